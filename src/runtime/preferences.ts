// The provider and model somebody chose last in a project (§13). Only their names are kept, and not in the workspace.
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../base/coded-error.ts";
import { readStateFile, writeStateFile } from "./state-dir.ts";

const Preferences = z.object({
  provider: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(500).optional(),
});
export type Preferences = z.infer<typeof Preferences>;

/** `directory` is the project's in the state directory (state-dir.ts). Never throws: what cannot be read is ignored. */
export async function loadPreferences(
  directory: string,
): Promise<{ preferences: Preferences; warning?: string }> {
  const path = pathIn(directory);
  try {
    const stored = await readStateFile(path);
    return { preferences: stored === undefined ? {} : Preferences.parse(stored) };
  } catch (error) {
    const why = error instanceof z.ZodError ? "it does not hold preferences" : messageOf(error);
    return { preferences: {}, warning: `${path} is ignored: ${why}; the next choice replaces it` };
  }
}

export async function savePreferences(directory: string, { provider, model }: Preferences): Promise<void> {
  await writeStateFile(pathIn(directory), Preferences.parse({ provider, model }));
}

function pathIn(directory: string): string {
  return join(directory, "preferences.json");
}
