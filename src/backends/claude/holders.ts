// Which running claude has which conversation open: every claude writes a file `sessions/<pid>.json` (2.1.197).
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { getClaudeConfigDir } from "../../base/claude-wire/environment.ts";
import { tryParseJson } from "../../base/json.ts";
import { mapBounded } from "../../base/map-bounded.ts";
import { isRunning } from "../../base/proc.ts";
import { asObject, asText } from "../../base/values.ts";
import type { Environment } from "../types.ts";

const PARALLEL_FILES = 16;

export async function readHolders(env: Environment): Promise<ReadonlyMap<string, number>> {
  const dir = join(getClaudeConfigDir(env), "sessions");
  const names = (await readdir(dir).catch(() => [])).filter((name) => /^\d+\.json$/.test(name));
  const holders = new Map<string, number>();
  await mapBounded(names, PARALLEL_FILES, async (name) => {
    const pid = Number(basename(name, ".json"));
    // A claude that was killed leaves its file.
    if (!isRunning(pid)) return;
    const text = await readFile(join(dir, name), "utf8").catch(() => "");
    const session_id = asText(asObject(tryParseJson(text))["sessionId"]);
    if (session_id !== undefined) holders.set(session_id, pid);
  });
  return holders;
}
