// Where Codex keeps what is its own. Nothing of it is ours: only a renewed login is written back.
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, homeDir } from "../../state-dir.ts";
import type { CodexConfig } from "../registry-types.ts";

/** The real path where it exists: Codex names its entry in the keyring after it. */
export function codexHomeOf({ codexHome }: Pick<CodexConfig, "codexHome">, env: Env): string {
  const given = codexHome ?? (env["CODEX_HOME"] || "~/.codex");
  const isOfHome = given === "~" || given.startsWith("~/");
  const path = isOfHome ? join(homeDir(env), given.slice(1)) : resolve(given);
  try {
    return realpathSync(path);
  } catch {
    return path; // It is not there; who looks into it says so.
  }
}
