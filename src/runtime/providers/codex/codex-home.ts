// Codex's home directory. demian writes nothing there except a renewed login.
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, getHomeDir } from "../../state-dir.ts";
import type { CodexConfig } from "../registry-types.ts";

/** The real path if it exists: the name of Codex's keyring entry is derived from it. */
export function resolveCodexHome({ codexHome }: Pick<CodexConfig, "codexHome">, env: Env): string {
  const given = codexHome ?? (env["CODEX_HOME"] || "~/.codex");
  const isOfHome = given === "~" || given.startsWith("~/");
  const path = isOfHome ? join(getHomeDir(env), given.slice(1)) : resolve(given);
  try {
    return realpathSync(path);
  } catch {
    return path; // The reader reports that it is missing.
  }
}
