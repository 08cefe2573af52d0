// Verbs that stream: `run` and `send` for one turn, `watch` until Ctrl-C or the end of the session.

import { resolve } from "node:path";
import { defined } from "../../base/values.ts";
import type { Client, SessionFrame, SessionHandle, UserInput } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { parseOpenPairs, parsePairs } from "../values.ts";
import { AnswerPrompt, TYPE_HERE } from "./answer-prompt.ts";
import type { ShellContext } from "./context.ts";
import { type Hint, Renderer } from "./render.ts";
import type { VerbArguments } from "./verb.ts";

/** Opens a session, streams one turn, closes it. Its history is kept, so that it can be resumed. */
export async function runTurn(client: Client, context: ShellContext, given: VerbArguments): Promise<number> {
  const pairs = given.words.filter(isOption);
  const prompt = await readPrompt(
    given.words.filter((word) => !isOption(word)),
    context,
  );
  const backend = String(given.flags["backend"] ?? firstBackend(client));
  const cwd = resolve(String(given.flags["cwd"] ?? "."));
  const { options } = parseOpenPairs(pairs, backend);
  const answers = readAnswerers(given.flags["answers"]);
  const session = await client.open({ backend, options: { cwd, ...options }, ...answers });
  context.output.note(`· ${backend} session ${session.session_id}`);
  try {
    return await streamTurn(session, prompt, context);
  } finally {
    await session.close().catch(() => undefined); // an error of the turn matters more
  }
}

/** Sends a message and prints the answer. Ctrl-C interrupts the turn, whose result ends the stream. */
export async function streamTurn(
  session: SessionHandle,
  input: UserInput,
  context: ShellContext,
): Promise<number> {
  const asking =
    context.isJson || context.readLines === undefined ? undefined : new AnswerPrompt(session, context);
  const print = printer(context, asking === undefined ? undefined : () => TYPE_HERE);
  const interrupt = (): void => {
    session.interrupt().catch(() => undefined); // the turn reports a lost connection
  };
  context.signal.addEventListener("abort", interrupt, { once: true });
  try {
    const turn = session.turn(input);
    for await (const frame of turn) {
      if (asking === undefined) await print(frame);
      else await asking.around(frame, () => print(frame));
    }
    return (await turn.result()).subtype === "success" ? 0 : 1;
  } finally {
    asking?.close();
    context.signal.removeEventListener("abort", interrupt);
  }
}

export async function watchSession(
  client: Client,
  context: ShellContext,
  given: VerbArguments,
): Promise<number> {
  const [session_id = "", ...pairs] = given.words;
  const { last_seen_seq } = Object.fromEntries(parsePairs(pairs));
  if (last_seen_seq !== undefined && typeof last_seen_seq !== "number") {
    throw new UsageError(`last_seen_seq must be a number, not ${JSON.stringify(last_seen_seq)}`);
  }
  const watch = await client.watch(session_id, defined({ last_seen_seq }));
  const first = (last_seen_seq ?? watch.last_seq) + 1;
  context.output.note(`· watching ${session_id} from event ${first}; Ctrl-C stops`);
  const stop = (): void => void client.close();
  context.signal.addEventListener("abort", stop, { once: true });
  const print = printer(context);
  for await (const frame of watch.events()) await print(frame);
  return 0;
}

function printer(context: ShellContext, hint?: Hint): (frame: SessionFrame) => Promise<void> {
  if (context.isJson) return (frame) => context.output.json(frame);
  const renderer = new Renderer(context.output, context.words, hint);
  return (frame) => renderer.show(frame);
}

function readAnswerers(said: string | true | undefined): { answers?: "owner" | "any" } {
  if (said === undefined) return {};
  if (said === "owner" || said === "any") return { answers: said };
  throw new UsageError(`--answers must be owner or any, not ${said}`);
}

/** Options need the prefix, because a prompt may be `a=b`. */
function isOption(word: string): boolean {
  return /^options\.[\w.-]+=/.test(word);
}

async function readPrompt(words: readonly string[], context: ShellContext): Promise<string> {
  const isFromInput = words.length === 0 || (words.length === 1 && words[0] === "-");
  const text = isFromInput ? await context.readInput() : words.join(" ");
  if (text === undefined || text.trim() === "") {
    throw new UsageError('no prompt: use run "hello", or pipe one in');
  }
  return text;
}

/** Prefers a real agent over the demo. */
function firstBackend(client: Client): string {
  const names = Object.keys(client.hello.backends);
  return names.find((name) => name !== "demo") ?? names[0] ?? "claude";
}
