// The installation id sent with every request: Codex's own, or one in our state directory until Codex has been run.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Env, getStateDir, readStateFile, writeStateFile } from "../../state-dir.ts";

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Never rejects. */
export async function readInstallationId(codexHome: string, env: Env): Promise<string> {
  const theirs = await readFile(join(codexHome, "installation_id"), "utf8").catch(() => "");
  if (ID.test(theirs.trim())) return theirs.trim();
  const file = join(getStateDir(env), "codex", "installation-id.json");
  const ours = await readStateFile(file).catch(() => undefined);
  if (typeof ours === "string" && ID.test(ours)) return ours;
  const fresh = randomUUID();
  await writeStateFile(file, fresh).catch(() => undefined); // Valid for this process only.
  return fresh;
}
