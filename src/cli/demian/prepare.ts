// What every talk begins with: the runtime of the workspace, what is chosen in it, and how a choice is remembered.
import { messageOf } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { loadPreferences, savePreferences } from "../../runtime/preferences.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { projectDir } from "../../runtime/state-dir.ts";
import type { Context } from "./command.ts";
import type { Order } from "./order.ts";
import { choiceToSave, resolveSettings, type Settings } from "./settings.ts";

export interface Prepared {
  /** Whoever prepares it closes it. */
  runtime: Runtime;
  settings: Settings;
  /** For people, safe to show. */
  warnings: readonly string[];
  /** A choice that worked is remembered. Undefined: nobody chose anything. */
  keep(chosen: Settings): Promise<Kept | undefined>;
}

/** What became of remembering a choice, for people. */
export interface Kept {
  isKept: boolean;
  text: string;
}

const NOTHING_SAVED: Awaited<ReturnType<typeof loadPreferences>> = { preferences: {} };

export async function prepare(order: Order, context: Context, isDemo: boolean): Promise<Prepared> {
  const { io } = context;
  const runtime = await open(order, context);
  const directory = projectDir(io.env, runtime.cwd);
  // The demo is no choice that somebody made for this project.
  const { preferences, warning } = isDemo ? NOTHING_SAVED : await loadPreferences(directory);
  return {
    runtime,
    settings: resolveSettings(runtime, order, preferences),
    warnings: [...runtime.warnings, ...(warning === undefined ? [] : [warning])].map(sanitizeLine),
    keep: (chosen) => (isDemo ? Promise.resolve(undefined) : remember(chosen, directory)),
  };
}

function open({ cwd, configPath, flags }: Order, { io, createRuntime }: Context): Promise<Runtime> {
  const order = { cwd, env: io.env, flags };
  return createRuntime(configPath === undefined ? order : { ...order, configPath });
}

/** A convenience: failing to keep a choice is reported, and nothing more. */
async function remember(settings: Settings, directory: string): Promise<Kept | undefined> {
  const choice = choiceToSave(settings);
  if (choice === undefined) return undefined;
  try {
    await savePreferences(directory, choice);
    const chosen = sanitizeLine(`${choice.provider}, ${choice.model}`);
    return { isKept: true, text: `remembered for this project: ${chosen}` };
  } catch (error) {
    return { isKept: false, text: `your choice could not be saved: ${sanitizeLine(messageOf(error))}` };
  }
}
