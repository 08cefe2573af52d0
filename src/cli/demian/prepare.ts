// Prepares a chat or a message: the workspace's runtime, the resolved settings, and how to save them.
import { toMessage } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { loadPreferences, savePreferences } from "../../runtime/preferences.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { getProjectDir } from "../../runtime/state-dir.ts";
import type { DemianContext } from "./command.ts";
import type { Order } from "./order.ts";
import { type Before, listLostSettings, resolveSettings, type Settings, toPreferences } from "./settings.ts";

export interface Prepared {
  /** Closed by the caller. */
  runtime: Runtime;
  settings: Settings;
  /** Sanitized. */
  warnings: readonly string[];
  /** Saves settings that worked. Undefined if the user chose none. */
  keep(chosen: Settings): Promise<Kept | undefined>;
}

/** Whether the settings were saved, and the message that says so. */
export interface Kept {
  isKept: boolean;
  text: string;
}

const NOTHING_SAVED: Awaited<ReturnType<typeof loadPreferences>> = { preferences: {} };

export async function prepare(
  order: Order,
  context: DemianContext,
  isDemo: boolean,
  before?: Before,
): Promise<Prepared> {
  const { io } = context;
  const runtime = await open(order, context);
  const directory = getProjectDir(io.env, runtime.cwd);
  // The demo neither uses nor changes the project's saved settings.
  const { preferences, warning } = isDemo ? NOTHING_SAVED : await loadPreferences(directory);
  const lost = before === undefined ? [] : listLostSettings(runtime, before);
  const changed = lost.map(
    (what) => `this conversation used the ${what}, which no longer exists; the default is used`,
  );
  return {
    runtime,
    settings: resolveSettings(runtime, order, preferences, before),
    warnings: [...runtime.warnings, ...(warning === undefined ? [] : [warning]), ...changed].map(
      sanitizeLine,
    ),
    keep: (chosen) => (isDemo ? Promise.resolve(undefined) : remember(chosen, directory)),
  };
}

function open({ cwd, configPath, flags }: Order, { io, createRuntime }: DemianContext): Promise<Runtime> {
  const order = { cwd, env: io.env, flags };
  return createRuntime(configPath === undefined ? order : { ...order, configPath });
}

/** A failure is only reported. */
async function remember(settings: Settings, directory: string): Promise<Kept | undefined> {
  const choice = toPreferences(settings);
  if (choice === undefined) return undefined;
  try {
    await savePreferences(directory, choice);
    const chosen = sanitizeLine(`${choice.provider}, ${choice.model}`);
    return { isKept: true, text: `saved for this project: ${chosen}` };
  } catch (error) {
    return { isKept: false, text: `could not save your choice: ${sanitizeLine(toMessage(error))}` };
  }
}
