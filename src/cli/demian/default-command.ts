// demian without a command: one message, or a chat.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { loadImagePart } from "../../runtime/images.ts";
import { expandPrompt } from "../../runtime/prompts.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { type Arguments, readTextFlag, UsageError } from "../command.ts";
import { Chat } from "./chat.ts";
import { readTyped } from "./chat-commands.ts";
import {
  assertStorable,
  findConversation,
  isAboutEarlier,
  listConversations,
  readWanted,
} from "./choose-conversation.ts";
import type { DemianContext } from "./command.ts";
import { Conversation } from "./conversation.ts";
import { runOnce } from "./once.ts";
import { type Order, readOrder } from "./order.ts";
import { createConversationPicker } from "./pick-conversation.ts";
import { readWholeMessage, USAGE_HINT } from "./piped.ts";
import { prepare } from "./prepare.ts";
import { Screen } from "./screen.ts";
import type { Settings } from "./settings.ts";

const PLAIN_PROGRAM = "demian-plain";

export async function runDefault(given: Arguments, context: DemianContext): Promise<number> {
  const { io, isJson } = context;
  assertStorable(given);
  if (given.flags["daemon"] === true) {
    const { runOnDaemon } = await import("./tui/on-daemon.ts");
    return runOnDaemon(given, readMessage(given), context);
  }
  const order = readOrder(given, io.cwd);
  const here = isAboutEarlier(given) ? await listConversations(order.cwd, io.env) : [];
  const wanted = readWanted(given, here);
  const message = readMessage({ ...given, words: wanted.words });
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const isChat = message === undefined && isTerminal && !given.flags["stdin"];
  if (isChat && isJson) throw new UsageError(`--json needs a message; ${USAGE_HINT}`);
  const isScreen = isChat && hasScreen(given, context);
  if (isScreen) await (await import("./trust-start.ts")).askTrust(order, context);
  const { stdout, stderr, env, isShared } = io;
  const isQuiet = given.flags["quiet"] === true;
  const screen = new Screen({ stdout, stderr, env, isShared, isQuiet, isJson });
  const command = isChat ? undefined : findCommand(message);
  if (command !== undefined) return refuseCommand(command, context);
  const pick = isTerminal ? createConversationPicker(context, screen, isScreen) : undefined;
  const before = await findConversation(wanted, here, { env: io.env, ...defined({ pick }) });
  // The list was closed.
  if (wanted.kind === "picked" && before === undefined) return 0;
  const text = isChat ? "" : await readWholeMessage(io, pipedOptions(given, message, screen));
  const earlier = before === undefined ? undefined : Conversation.resume(io.env, before);
  try {
    return await run({ given, context, order, screen, isScreen, isChat, text, earlier });
  } finally {
    await earlier?.close();
  }
}

interface Run {
  given: Arguments;
  context: DemianContext;
  order: Order;
  screen: Screen;
  isScreen: boolean;
  isChat: boolean;
  /** Of a single message. */
  text: string;
  /** The conversation that continues. */
  earlier: Conversation | undefined;
}

async function run({
  given,
  context,
  screen,
  isScreen,
  isChat,
  text,
  earlier,
  ...more
}: Run): Promise<number> {
  const { io, isJson } = context;
  const order = continueMode(more.order, earlier?.before);
  const isDemo = given.flags["demo"] === true;
  const { runtime, settings, warnings, keep } = await prepare(order, context, isDemo, earlier?.before);
  const conversation = earlier ?? (await begin(runtime, order, context, isDemo));
  try {
    const name = readTextFlag(given, "name");
    if (name !== undefined) conversation.rename(name);
    if (!isScreen) {
      for (const warning of warnings) screen.warn(`! ${warning}`);
      conversation.onProblem((problem) => screen.warn(`! ${sanitizeLine(problem)}`));
    }
    const imageOrder = { cwd: io.cwd, ...runtime.config.multimodal };
    const parts = await Promise.all(
      (given.many["image"] ?? []).map((image) => loadImagePart(image, imageOrder)),
    );
    if (isScreen) {
      const { runOnScreen } = await import("./tui/on-screen.ts");
      return await runOnScreen({
        io,
        env: io.env,
        runtime,
        settings,
        order,
        conversation,
        parts,
        warnings,
        onChosen: keep,
      });
    }
    const onChosen = async (chosen: Settings): Promise<void> => {
      const kept = await keep(chosen);
      if (kept?.isKept) screen.note(`· ${kept.text}`);
      else if (kept !== undefined) screen.warn(`! ${kept.text}`);
    };
    const talk = { io, screen, runtime, settings, order, conversation, parts };
    if (isChat) return await new Chat({ ...talk, onChosen }).run();
    const sent = expandPrompt(runtime.commands, text) ?? text;
    return await runOnce({ ...talk, text: sent, isJson });
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "missing_key") throw error;
    const others = "select another one with --provider; `demian list-providers` shows which are ready";
    throw new CodedError(error.code, `${error.message}; ${others}`, { cause: error });
  } finally {
    await runtime.close();
    await conversation.close();
  }
}

/** A conversation keeps its agent mode, unless a flag says otherwise. */
function continueMode(order: Order, before: Conversation["before"]): Order {
  const agentMode = before?.agentMode;
  if (agentMode === undefined || order.flags["agentMode"] !== undefined) return order;
  return { ...order, flags: { ...order.flags, agentMode } };
}

async function begin(
  { cwd, config }: Runtime,
  { transcript }: Order,
  { io }: DemianContext,
  isDemo: boolean,
): Promise<Conversation> {
  if (isDemo || !(transcript ?? config.transcript.enabled)) return Conversation.unstored();
  return Conversation.create(io.env, { cwd, agentMode: config.agentMode });
}

/** Whether to use the full screen instead of the plain chat. */
function hasScreen({ flags }: Arguments, { program, io }: DemianContext): boolean {
  if (program === PLAIN_PROGRAM || flags["plain"] === true || flags["quiet"] === true) return false;
  return io.stdout.isTTY === true && io.env["TERM"] !== "dumb";
}

/** Finds a slash command given as the message. Throws if it looks like a misspelled one. */
function findCommand(message: string | undefined): string | undefined {
  // Another word with a slash may be a directory: /tmp.
  const typed = message === undefined ? undefined : readTyped(message);
  if (typed?.kind === "command") return typed.name;
  if (typed?.kind === "unknown" && typed.isNear) throw new UsageError(typed.message);
  return undefined;
}

/** There is no conversation to apply it to. Nothing is sent; exits with 0. */
async function refuseCommand(command: string, { io, output, isJson }: DemianContext): Promise<number> {
  const text =
    command === "/compact"
      ? "no conversation to compact; nothing was sent to the model"
      : `${command} works only in a chat (run demian without a message); nothing was sent to the model`;
  if (isJson) await output.json({ type: "notice", command, message: text });
  else io.stderr.write(`· ${text}\n`);
  return 0;
}

function readMessage({ flags, words }: Arguments): string | undefined {
  const flag = readTextFlag({ flags }, "prompt");
  if (flag !== undefined && words.length > 0) {
    throw new UsageError("give the message as arguments or with --prompt, not both");
  }
  const text = flag ?? (words.length === 0 ? undefined : words.join(" "));
  if (text?.trim() === "") throw new UsageError(`the message is empty; ${USAGE_HINT}`);
  return text;
}

function pipedOptions(
  given: Arguments,
  message: string | undefined,
  screen: Screen,
): Parameters<typeof readWholeMessage>[1] {
  return {
    message,
    isPatient: given.flags["stdin"] === true,
    note: (text) => screen.note(text),
    warn: (text) => screen.warn(text),
  };
}
