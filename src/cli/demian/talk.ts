// demian without a command: one message, or a talk at the terminal, with the same settings and the same session.
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { imagePart } from "../../runtime/images.ts";
import { loadPreferences, savePreferences } from "../../runtime/preferences.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { projectDir } from "../../runtime/state-dir.ts";
import { type Arguments, UsageError } from "../command.ts";
import { textFlag } from "../flag-values.ts";
import { Chat } from "./chat.ts";
import type { Context } from "./command.ts";
import { runOnce } from "./once.ts";
import { type Order, orderOf } from "./order.ts";
import { HOW_TO_SAY, wholeMessage } from "./piped.ts";
import { Screen } from "./screen.ts";
import { choiceToSave, resolveSettings, type Settings } from "./settings.ts";

const NOTHING_SAVED: Awaited<ReturnType<typeof loadPreferences>> = { preferences: {} };

export async function runTalk(given: Arguments, context: Context): Promise<number> {
  const { io, isJson } = context;
  const order = orderOf(given, io.cwd);
  const message = messageFrom(given);
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const isChat = message === undefined && isTerminal && !given.flags["stdin"];
  if (isChat && isJson) throw new UsageError(`--json needs a message; ${HOW_TO_SAY}`);
  const { stdout, stderr, env, isShared } = io;
  const isQuiet = given.flags["quiet"] === true;
  const screen = new Screen({ stdout, stderr, env, isShared, isQuiet, isJson });
  const text = isChat ? "" : await wholeMessage(io, pipedOptions(given, message, screen));
  const runtime = await open(order, context);
  try {
    for (const warning of runtime.warnings) screen.warn(`! ${sanitizeLine(warning)}`);
    const directory = projectDir(io.env, runtime.cwd);
    // The demo is no choice that somebody made for this project.
    const isDemo = given.flags["demo"] === true;
    const { preferences, warning } = isDemo ? NOTHING_SAVED : await loadPreferences(directory);
    if (warning !== undefined) screen.warn(`! ${sanitizeLine(warning)}`);
    const settings = resolveSettings(runtime, order, preferences);
    const imageOrder = { cwd: io.cwd, ...runtime.config.multimodal };
    const parts = await Promise.all((given.many["image"] ?? []).map((image) => imagePart(image, imageOrder)));
    const onChosen = (chosen: Settings): Promise<void> =>
      isDemo ? Promise.resolve() : remember(chosen, directory, screen);
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

function open({ cwd, configPath, flags }: Order, { io, createRuntime }: Context): Promise<Runtime> {
  const order = { cwd, env: io.env, flags };
  return createRuntime(configPath === undefined ? order : { ...order, configPath });
}

/** It is a convenience: what cannot be kept is told, and nothing more. */
async function remember(settings: Settings, directory: string, screen: Screen): Promise<void> {
  const choice = choiceToSave(settings);
  if (choice === undefined) return;
  try {
    await savePreferences(directory, choice);
  } catch (error) {
    screen.warn(`! your choice is not remembered: ${sanitizeLine(messageOf(error))}`);
  }
}
