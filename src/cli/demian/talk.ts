// demian without a command: one message, or a talk at the terminal, with the same settings and the same session.
import { CodedError } from "../../base/coded-error.ts";
import { imagePart } from "../../runtime/images.ts";
import { type Arguments, UsageError } from "../command.ts";
import { textFlag } from "../flag-values.ts";
import { Chat } from "./chat.ts";
import { readTyped } from "./chat-commands.ts";
import type { Context } from "./command.ts";
import { runOnce } from "./once.ts";
import { orderOf } from "./order.ts";
import { HOW_TO_SAY, wholeMessage } from "./piped.ts";
import { prepare } from "./prepare.ts";
import { Screen } from "./screen.ts";
import type { Settings } from "./settings.ts";

const PLAIN_PROGRAM = "demian-plain";

export async function runTalk(given: Arguments, context: Context): Promise<number> {
  const { io, isJson } = context;
  const message = messageFrom(given);
  if (given.flags["daemon"] === true) {
    const { runOnDaemon } = await import("./tui/on-daemon.ts");
    return runOnDaemon(given, message, context);
  }
  const order = orderOf(given, io.cwd);
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const isChat = message === undefined && isTerminal && !given.flags["stdin"];
  if (isChat && isJson) throw new UsageError(`--json needs a message; ${HOW_TO_SAY}`);
  const isScreen = isChat && hasScreen(given, context);
  if (isScreen) await (await import("./trust-start.ts")).askTrust(order, context);
  const { stdout, stderr, env, isShared } = io;
  const isQuiet = given.flags["quiet"] === true;
  const screen = new Screen({ stdout, stderr, env, isShared, isQuiet, isJson });
  const command = isChat ? undefined : commandIn(message);
  if (command !== undefined) return noticeOf(command, context);
  const text = isChat ? "" : await wholeMessage(io, pipedOptions(given, message, screen));
  const { runtime, settings, warnings, keep } = await prepare(order, context, given.flags["demo"] === true);
  try {
    if (!isScreen) for (const text of warnings) screen.warn(`! ${text}`);
    const imageOrder = { cwd: io.cwd, ...runtime.config.multimodal };
    const parts = await Promise.all((given.many["image"] ?? []).map((image) => imagePart(image, imageOrder)));
    if (isScreen) {
      const { runOnScreen } = await import("./tui/on-screen.ts");
      return await runOnScreen({ io, runtime, settings, order, parts, warnings, onChosen: keep });
    }
    const onChosen = async (chosen: Settings): Promise<void> => {
      const kept = await keep(chosen);
      if (kept?.isKept) screen.note(`· ${kept.text}`);
      else if (kept !== undefined) screen.warn(`! ${kept.text}`);
    };
    if (isChat) return await new Chat({ io, screen, runtime, settings, order, parts, onChosen }).run();
    return await runOnce({ io, screen, runtime, settings, order, text, parts, isJson });
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "missing_key") throw error;
    const others = "--provider chooses another, `demian list-providers` shows which are ready";
    throw new CodedError(error.code, `${error.message}; ${others}`, { cause: error });
  } finally {
    await runtime.close();
  }
}

/** Where the whole terminal is ours, and somebody wants to talk. */
function hasScreen({ flags }: Arguments, { program, io }: Context): boolean {
  if (program === PLAIN_PROGRAM || flags["plain"] === true || flags["quiet"] === true) return false;
  return io.stdout.isTTY === true && io.env["TERM"] !== "dumb";
}

/** What is typed instead of a message, in a conversation. Throws for what is nearly such a command. */
function commandIn(message: string | undefined): string | undefined {
  // A single word that is no command may be a directory: /tmp.
  const typed = message === undefined ? undefined : readTyped(message);
  if (typed?.kind === "command") return typed.name;
  if (typed?.kind === "unknown" && typed.isNear) throw new UsageError(typed.message);
  return undefined;
}

/** There is no conversation that it could change: nothing is sent, and nothing has failed. */
async function noticeOf(command: string, { io, output, isJson }: Context): Promise<number> {
  const text =
    command === "/compact"
      ? "there is no conversation to compact yet; nothing was sent to the model"
      : `${command} works in a conversation (run demian without a message); nothing was sent to the model`;
  if (isJson) await output.json({ type: "notice", command, message: text });
  else io.stderr.write(`· ${text}\n`);
  return 0;
}

function messageFrom({ flags, words }: Arguments): string | undefined {
  const flag = textFlag({ flags }, "prompt");
  if (flag !== undefined && words.length > 0) {
    throw new UsageError("give the message as words or with --prompt, not both");
  }
  const text = flag ?? (words.length === 0 ? undefined : words.join(" "));
  if (text?.trim() === "") throw new UsageError(`the message is empty; ${HOW_TO_SAY}`);
  return text;
}

function pipedOptions(
  given: Arguments,
  message: string | undefined,
  screen: Screen,
): Parameters<typeof wholeMessage>[1] {
  return {
    message,
    isPatient: given.flags["stdin"] === true,
    note: (text) => screen.note(text),
    warn: (text) => screen.warn(text),
  };
}
