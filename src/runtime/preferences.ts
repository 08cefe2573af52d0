// The provider and model last chosen in a project. Only their names are kept, outside the workspace.
import { join } from "node:path";
import * as z from "zod";
import { toMessage } from "../base/coded-error.ts";
import { readStateFile, writeStateFile } from "./state-dir.ts";

const Preferences = z.object({
  provider: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(500).optional(),
});
export type Preferences = z.infer<typeof Preferences>;

/** `directory` is the project's state directory (state-dir.ts). Never throws: an unreadable file is ignored. */
export async function loadPreferences(
  directory: string,
): Promise<{ preferences: Preferences; warning?: string }> {
  const path = toPreferencesPath(directory);
  try {
    const stored = await readStateFile(path);
    return { preferences: stored === undefined ? {} : Preferences.parse(stored) };
  } catch (error) {
    const why = error instanceof z.ZodError ? "not a preferences file" : toMessage(error);
    return { preferences: {}, warning: `${path} is ignored: ${why}; it is replaced at the next choice` };
  }
}

export async function savePreferences(directory: string, { provider, model }: Preferences): Promise<void> {
  await writeStateFile(toPreferencesPath(directory), Preferences.parse({ provider, model }));
}

function toPreferencesPath(directory: string): string {
  return join(directory, "preferences.json");
}
