// demian without a command: one message, or a talk at the terminal, with the same settings and the same session.
import { CodedError } from "../../base/coded-error.ts";
import { imagePart } from "../../runtime/images.ts";
import { type Arguments, UsageError } from "../command.ts";
import { textFlag } from "../flag-values.ts";
import { Chat } from "./chat.ts";
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
      const problem = await keep(chosen);
      if (problem !== undefined) screen.warn(`! ${problem}`);
    };
    if (isChat) return await new Chat({ io, screen, runtime, settings, order, parts, onChosen }).run();
    const onAnswered = (): Promise<void> => onChosen(settings);
    return await runOnce({ io, screen, runtime, settings, order, text, parts, isJson, onAnswered });
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
