// A profile: `$CODEX_HOME/<name>.config.toml`, merged over the user's config. Codex reads it only in its own terminal
// programs (`--profile`); `codex app-server` 0.166.0 has no such flag, so we read it and pass it on.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";

export async function readProfile(codexHome: string, name: string): Promise<JsonObject> {
  const path = join(codexHome, `${name}.config.toml`);
  try {
    return parseToml(await readFile(path, "utf8"));
  } catch (cause) {
    const words = `profile "${name}": cannot read ${path}: ${toMessage(cause)}`;
    throw new CodedError("spawn_failed", words, { cause });
  }
}
