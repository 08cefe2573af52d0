// The verbs that stream: `run` and `send` for one turn, `watch` until Ctrl-C or the end of the session.
import { resolve } from "node:path";
import type { Client, SessionFrame, SessionHandle, UserInput } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import { parseOpenPairs, parsePairs } from "../values.ts";
import { Asking, TYPE_HERE } from "./asking.ts";
import type { ShellContext } from "./context.ts";
import { type Hint, Renderer } from "./render.ts";
import type { VerbArguments } from "./verb.ts";

/** Opens a session, streams one answer, closes. The record stays, so that the session can be resumed. */
export async function runPrompt(
  client: Client,
  context: ShellContext,
  given: VerbArguments,
): Promise<number> {
  const pairs = given.words.filter(isOption);
  const prompt = await promptOf(
    given.words.filter((word) => !isOption(word)),
    context,
  );
  const backend = String(given.flags["backend"] ?? firstBackend(client));
  const cwd = resolve(String(given.flags["cwd"] ?? "."));
  const { options } = parseOpenPairs(pairs, backend);
  const answers = answersOf(given.flags["answers"]);
  const session = await client.open({ backend, options: { cwd, ...options }, ...answers });
  context.output.note(`· ${backend} session ${session.session_id}`);
  try {
    return await streamTurn(session, prompt, context);
  } finally {
    await session.close().catch(() => undefined); // the turn's own error, if any, is what matters
  }
}

/** Sends a message and shows the answer. Ctrl-C interrupts the agent, whose result then ends the stream. */
export async function streamTurn(
  session: SessionHandle,
  input: UserInput,
  context: ShellContext,
): Promise<number> {
  const asking = context.isJson || context.readLines === undefined ? undefined : new Asking(session, context);
  const print = printer(context, asking === undefined ? undefined : () => TYPE_HERE);
  const interrupt = (): void => {
    session.interrupt().catch(() => undefined); // the connection is gone, which the turn tells
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
    throw new UsageError(`last_seen_seq is a number, got ${JSON.stringify(last_seen_seq)}`);
  }
  const watch = await client.watch(session_id, last_seen_seq === undefined ? {} : { last_seen_seq });
  const first = (last_seen_seq ?? watch.last_seq) + 1;
  context.output.note(`· watching ${session_id} from event ${first} on; Ctrl-C ends`);
  const stop = (): void => void client.close();
  context.signal.addEventListener("abort", stop, { once: true });
  const print = printer(context);
  for await (const frame of watch.events()) await print(frame);
  return 0;
}

function printer(context: ShellContext, hint?: Hint): (frame: SessionFrame) => Promise<void> {
  if (context.isJson) return (frame) => context.output.json(frame);
  const renderer = new Renderer(context.output, hint);
  return (frame) => renderer.show(frame);
}

function answersOf(said: string | true | undefined): { answers?: "owner" | "any" } {
  if (said === undefined) return {};
  if (said === "owner" || said === "any") return { answers: said };
  throw new UsageError(`--answers is owner or any, not ${said}`);
}

/** Only words that say so are options: a prompt may well be `a=b`. */
function isOption(word: string): boolean {
  return /^options\.[\w.-]+=/.test(word);
}

async function promptOf(words: readonly string[], context: ShellContext): Promise<string> {
  const isFromInput = words.length === 0 || (words.length === 1 && words[0] === "-");
  const text = isFromInput ? await context.readInput() : words.join(" ");
  if (text === undefined || text.trim() === "") {
    throw new UsageError('nothing to say: give a prompt, as in blemeesctl run "hello", or pipe one in');
  }
  return text;
}

/** The demo agent is for trying things out, so a real one goes first. */
function firstBackend(client: Client): string {
  const names = Object.keys(client.hello.backends);
  return names.find((name) => name !== "demo") ?? names[0] ?? "claude";
}
