// Resolves a command to its words and executable, and decides whether it can be granted for longer than once. A command
// can be granted only if the agent cannot change what it does.
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { parsePlain } from "./command.ts";
import {
  BUILTINS,
  baseName,
  GIT_READERS,
  hasExecutingOption,
  isIn,
  READERS,
  runsOtherPrograms,
} from "./programs.ts";
import type { ResolvedCommand } from "./types.ts";

export interface ResolveContext {
  /** Real path. Undefined if unknown, as in a shell that stays open; then relative programs cannot be resolved. */
  cwd: string | undefined;
  /** Directories where the agent can create programs, as real paths. */
  writable: readonly string[];
  /** The command's PATH. */
  path: string | undefined;
  /** Runs in an OS sandbox ("linux-bwrap", "macos-sandbox-exec"). */
  isSandboxed: boolean;
}

/** World-writable directories on Linux and macOS. */
const SHARED = ["/tmp", "/var/tmp", "/dev/shm"];
/** Only prints lines. */
const SED_PRINT = /^\d+(,\d+)?p$/;

/** The workspace and temporary directories, as given and as real paths. */
export async function listWritableDirs(
  root: string,
  temporary: string,
  more: readonly string[] = [],
): Promise<string[]> {
  const named = [root, temporary, ...SHARED, ...more];
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

/** The real path; undefined if there is none, or the agent could have created it. */
async function findExecutable(name: string, context: ResolveContext): Promise<string | undefined> {
  if (name.includes("/")) {
    if (context.cwd === undefined && !isAbsolute(name)) return undefined;
    return findTrustedFile(resolve(context.cwd ?? "/", name), context.writable);
  }
  const folders = (context.path ?? "").split(delimiter);
  // With a relative entry in PATH, the program depends on the directory.
  if (context.path === undefined || folders.some((folder) => !isAbsolute(folder))) return undefined;
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return findTrustedFile(file, context.writable);
  }
  return undefined;
}

async function findTrustedFile(file: string, writable: readonly string[]): Promise<string | undefined> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined || !(await isExecutable(real))) return undefined;
  return [file, real].some((path) => writable.some((root) => isBelow(path, root))) ? undefined : real;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function isGrantable(argv: readonly string[], executable: string, isSandboxed: boolean): boolean {
  const [program = "", ...rest] = argv;
  const isPlain = !program.includes("/") || program === executable;
  if (!isPlain || hasExecutingOption(argv)) return false;
  if (isIn(READERS, program)) return true;
  // The rest depends on files that the agent can write, so it must run in a sandbox.
  if (!isSandboxed) return false;
  if (baseName(program) === "git") return GIT_READERS.has(rest[0] ?? "");
  if (baseName(program) === "find") return true;
  if (baseName(program) === "sed")
    return rest[0] === "-n" && SED_PRINT.test(rest[1] ?? "") && areOperands(rest.slice(2));
  return ![program, executable].some((word) => runsOtherPrograms(word) && !isApplet(program, word));
}

/** busybox under the name of an applet is that applet. */
function isApplet(program: string, word: string): boolean {
  return word !== program && /^(busybox|toybox|coreutils)/.test(baseName(word));
}

function areOperands(words: readonly string[]): boolean {
  return words.every((word) => !word.startsWith("-"));
}
