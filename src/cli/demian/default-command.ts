// demian without a command: one message, or a chat.
import { CodedError } from "../../base/coded-error.ts";
import { loadImagePart } from "../../runtime/images.ts";
import { expandPrompt } from "../../runtime/prompts.ts";
import { type Arguments, readTextFlag, UsageError } from "../command.ts";
import { Chat } from "./chat.ts";
import { readTyped } from "./chat-commands.ts";
import type { DemianContext } from "./command.ts";
import { runOnce } from "./once.ts";
import { readOrder } from "./order.ts";
import { readWholeMessage, USAGE_HINT } from "./piped.ts";
import { prepare } from "./prepare.ts";
import { Screen } from "./screen.ts";
import type { Settings } from "./settings.ts";

const PLAIN_PROGRAM = "demian-plain";

export async function runDefault(given: Arguments, context: DemianContext): Promise<number> {
  const { io, isJson } = context;
  const message = readMessage(given);
  if (given.flags["daemon"] === true) {
    const { runOnDaemon } = await import("./tui/on-daemon.ts");
    return runOnDaemon(given, message, context);
  }
  const order = readOrder(given, io.cwd);
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
  const text = isChat ? "" : await readWholeMessage(io, pipedOptions(given, message, screen));
  const { runtime, settings, warnings, keep } = await prepare(order, context, given.flags["demo"] === true);
  try {
    if (!isScreen) for (const text of warnings) screen.warn(`! ${text}`);
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
    if (isChat) return await new Chat({ io, screen, runtime, settings, order, parts, onChosen }).run();
    const sent = expandPrompt(runtime.commands, text) ?? text;
    return await runOnce({ io, screen, runtime, settings, order, text: sent, parts, isJson });
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "missing_key") throw error;
    const others = "select another one with --provider; `demian list-providers` shows which are ready";
    throw new CodedError(error.code, `${error.message}; ${others}`, { cause: error });
  } finally {
    await runtime.close();
  }
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
