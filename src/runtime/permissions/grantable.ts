// Resolves a command to its words and executable, and decides whether it can be granted for longer than once. A command
// can be granted only if the agent cannot change what it does.
import { realpath } from "node:fs/promises";
import { type ExecutableContext, findExecutable, SHARED_DIRS } from "../../base/commands/executables.ts";
import { parsePlain } from "../../base/commands/plain.ts";
import {
  BUILTINS,
  GIT_READERS,
  getBaseName,
  hasExecutingOption,
  isIn,
  READERS,
  runsOtherPrograms,
} from "../../base/commands/programs.ts";
import type { ResolvedCommand } from "./types.ts";

export interface ResolveContext extends ExecutableContext {
  /** Runs in an OS sandbox ("linux-bwrap", "macos-sandbox-exec"). */
  isSandboxed: boolean;
}

/** Only prints lines. */
const SED_PRINT = /^\d+(,\d+)?p$/;

/** The workspace and temporary directories, as given and as real paths. */
export async function listWritableDirs(
  root: string,
  temporary: string,
  more: readonly string[] = [],
): Promise<string[]> {
  const named = [root, temporary, ...SHARED_DIRS, ...more];
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...named, ...real])];
}

/** Undefined if it is not certain what would run. */
export async function resolveCommand(
  command: string,
  context: ResolveContext,
): Promise<ResolvedCommand | undefined> {
  const argv = parsePlain(command);
  const name = argv?.[0];
  if (argv === undefined || name === undefined) return undefined;
  // A shell builtin takes precedence over a program.
  if (!name.includes("/") && BUILTINS.has(name)) return undefined;
  const executable = await findExecutable(name, context);
  if (executable === undefined) return undefined;
  return { argv, executable, isGrantable: isGrantable(argv, executable, context.isSandboxed) };
}

function isGrantable(argv: readonly string[], executable: string, isSandboxed: boolean): boolean {
  const [program = "", ...rest] = argv;
  const isPlain = !program.includes("/") || program === executable;
  if (!isPlain || hasExecutingOption(argv)) return false;
  if (isIn(READERS, program)) return true;
  // The rest depends on files that the agent can write, so it must run in a sandbox.
  if (!isSandboxed) return false;
  if (getBaseName(program) === "git") return GIT_READERS.has(rest[0] ?? "");
  if (getBaseName(program) === "find") return true;
  if (getBaseName(program) === "sed")
    return rest[0] === "-n" && SED_PRINT.test(rest[1] ?? "") && areOperands(rest.slice(2));
  return ![program, executable].some((word) => runsOtherPrograms(word) && !isApplet(program, word));
}

/** busybox under the name of an applet is that applet. */
function isApplet(program: string, word: string): boolean {
  return word !== program && /^(busybox|toybox|coreutils)/.test(getBaseName(word));
}

function areOperands(words: readonly string[]): boolean {
  return words.every((word) => !word.startsWith("-"));
}
