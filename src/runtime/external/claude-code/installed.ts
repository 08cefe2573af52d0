// Whether Claude Code can be run here at all, found out without running anything.
import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { CodedError, errnoOf } from "../../../base/coded-error.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import { type Env, homeDir } from "../../state-dir.ts";

type Wanted = Pick<ClaudeCodeConfig, "runtime" | "cliPath">;

export const SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk";
/** The SDK as a file, where it is not installed beside demian. */
export const SDK_VARIABLE = "DEMIAN_CLAUDE_SDK";
const USUAL_PLACE = "~/.local/bin/claude";

/**
 * The program to run; undefined: the one that comes with the SDK. Throws `CodedError` with what to install or to set.
 * `hasPackage` is for tests.
 */
export function findInstalled(
  key: string,
  config: Wanted,
  env: Env,
  hasPackage: (name: string) => boolean = isInstalled,
): string | undefined {
  const { runtime, cliPath } = config;
  const missing = runtime === "agent-sdk" ? missingSdk(env, hasPackage) : undefined;
  if (missing !== undefined) throw new CodedError("not_installed", sdkMissing(missing));
  if (cliPath !== undefined) {
    const path = inHome(cliPath, env);
    if (isProgram(path)) return path;
    throw new CodedError(
      "not_installed",
      `providers.${key}.cliPath is ${cliPath}, and there is no such program; install Claude Code or correct the path`,
    );
  }
  if (runtime === "agent-sdk") return undefined;
  const found = [inHome(USUAL_PLACE, env), ...onPath("claude", env)].find(isProgram);
  if (found !== undefined) return found;
  throw new CodedError(
    "not_installed",
    `Claude Code is not installed: there is no ${USUAL_PLACE} and no claude on the PATH; install it, or name it in providers.${key}.cliPath`,
  );
}

/** `what` is missing about it. */
export function sdkMissing(what: string): string {
  return `the Agent SDK of Claude Code ${what}; install it beside demian (\`npm install -g ${SDK_PACKAGE}\`), name its sdk.mjs in ${SDK_VARIABLE}, or set runtime: "cli" for this provider`;
}

/** Undefined: it is there. A relative path would be code of the workspace's. */
function missingSdk(env: Env, hasPackage: (name: string) => boolean): string | undefined {
  const file = env[SDK_VARIABLE];
  if (file === undefined || file === "") return hasPackage(SDK_PACKAGE) ? undefined : "is not installed";
  if (isAbsolute(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true) return undefined;
  return `is not where ${SDK_VARIABLE} says (${file}; the absolute path of a file is needed)`;
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // There, and only for `import`.
    return errnoOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}

function inHome(path: string, env: Env): string {
  return path.startsWith("~/") ? join(homeDir(env), path.slice(2)) : path;
}

function onPath(name: string, env: Env): string[] {
  return (env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name));
}

/** What is relative, also on the PATH, would be a program of the workspace's. */
function isProgram(path: string): boolean {
  if (!isAbsolute(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
