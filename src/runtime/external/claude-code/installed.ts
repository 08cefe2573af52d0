// Finds the installed Claude Code without running it.
import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { CodedError, readErrno } from "../../../base/coded-error.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import { type Env, getHomeDir } from "../../state-dir.ts";

type Wanted = Pick<ClaudeCodeConfig, "runtime" | "cliPath">;

export const SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk";
/** The path of the SDK, if it is not installed next to demian. */
export const SDK_VARIABLE = "DEMIAN_CLAUDE_SDK";
const DEFAULT_PATH = "~/.local/bin/claude";

/**
 * The program to run; undefined for the one that comes with the SDK. Throws `CodedError` with what to install or set.
 * `hasPackage` is for tests.
 */
export function findInstalled(
  key: string,
  config: Wanted,
  env: Env,
  hasPackage: (name: string) => boolean = isInstalled,
): string | undefined {
  const { runtime, cliPath } = config;
  const missing = runtime === "agent-sdk" ? findSdkProblem(env, hasPackage) : undefined;
  if (missing !== undefined) throw new CodedError("not_installed", describeMissingSdk(missing));
  if (cliPath !== undefined) {
    const path = expandHome(cliPath, env);
    if (isProgram(path)) return path;
    throw new CodedError(
      "not_installed",
      `providers.${key}.cliPath: ${cliPath} is not an executable file; install Claude Code or correct the path`,
    );
  }
  if (runtime === "agent-sdk") return undefined;
  const found = [expandHome(DEFAULT_PATH, env), ...listOnPath("claude", env)].find(isProgram);
  if (found !== undefined) return found;
  throw new CodedError(
    "not_installed",
    `Claude Code is not installed: found neither ${DEFAULT_PATH} nor claude on PATH; install it, or set providers.${key}.cliPath`,
  );
}

/** `what`: the predicate, such as "is not installed". */
export function describeMissingSdk(what: string): string {
  return `the Claude Agent SDK ${what}; install it next to demian (\`npm install -g ${SDK_PACKAGE}\`), set ${SDK_VARIABLE} to its sdk.mjs, or set runtime: "cli" for this provider`;
}

/** Undefined if it is installed. A relative path could be code of the workspace. */
function findSdkProblem(env: Env, hasPackage: (name: string) => boolean): string | undefined {
  const file = env[SDK_VARIABLE];
  if (file === undefined || file === "") return hasPackage(SDK_PACKAGE) ? undefined : "is not installed";
  if (isAbsolute(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true) return undefined;
  return `is not at ${file}, the value of ${SDK_VARIABLE} (it must be the absolute path of a file)`;
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // Installed, but only for `import`.
    return readErrno(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}

function expandHome(path: string, env: Env): string {
  return path.startsWith("~/") ? join(getHomeDir(env), path.slice(2)) : path;
}

function listOnPath(name: string, env: Env): string[] {
  return (env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name));
}

/** A relative path, even on PATH, could be a program of the workspace. */
function isProgram(path: string): boolean {
  if (!isAbsolute(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
