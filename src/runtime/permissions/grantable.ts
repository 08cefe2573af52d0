// What a command is once it is certain: its words and the program that will run. And whether a person may allow exactly
// this for longer than once (R15). Looks at the file system; decides nothing.
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
  runsOthers,
} from "./programs.ts";
import type { ResolvedCommand } from "./types.ts";

export interface ResolveContext {
  /** Real. Undefined: nobody knows it for certain (a shell that stays open), so that a relative program is not certain. */
  cwd: string | undefined;
  /** The workspace and other places where the agent can put programs: real and absolute. */
  writable: readonly string[];
  /** What the command will find its programs with. */
  path: string | undefined;
  /** It will be held by the operating system ("linux-bwrap", "macos-sandbox-exec"). */
  isSandboxed: boolean;
}

/** Where everybody may write, on Linux and macOS. */
const SHARED = ["/tmp", "/var/tmp", "/dev/shm"];
/** Shows lines and does nothing else. */
const SED_PRINT = /^\d+(,\d+)?p$/;

/** The workspace and the directories for temporary files. */
export async function writablePlaces(
  root: string,
  temporary: string,
  more: readonly string[] = [],
): Promise<string[]> {
  const named = [root, temporary, ...SHARED, ...more];
  const places = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...named, ...places])];
}

/** Undefined: it is not certain what would run. */
export async function resolveCommand(
  command: string,
  context: ResolveContext,
): Promise<ResolvedCommand | undefined> {
  const argv = parsePlain(command);
  const name = argv?.[0];
  if (argv === undefined || name === undefined) return undefined;
  // The shell takes its own word before any program of that name.
  if (!name.includes("/") && BUILTINS.has(name)) return undefined;
  const executable = await findExecutable(name, context);
  if (executable === undefined) return undefined;
  return { argv, executable, isGrantable: isGrantable(argv, executable, context.isSandboxed) };
}

/** The real path; undefined: there is none, or the agent could have put it there. */
async function findExecutable(name: string, context: ResolveContext): Promise<string | undefined> {
  if (name.includes("/")) {
    if (context.cwd === undefined && !isAbsolute(name)) return undefined;
    return safeFile(resolve(context.cwd ?? "/", name), context.writable);
  }
  const folders = (context.path ?? "").split(delimiter);
  // "." or nothing in PATH: what runs depends on where it runs.
  if (context.path === undefined || folders.some((folder) => !isAbsolute(folder))) return undefined;
  for (const folder of folders) {
    const file = join(folder, name);
    if (await isExecutable(file)) return safeFile(file, context.writable);
  }
  return undefined;
}

async function safeFile(file: string, writable: readonly string[]): Promise<string | undefined> {
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
  // From here on what happens depends on files that the agent can write: only where the system holds it.
  if (!isSandboxed) return false;
  if (baseName(program) === "git") return GIT_READERS.has(rest[0] ?? "");
  if (baseName(program) === "find") return true;
  if (baseName(program) === "sed")
    return rest[0] === "-n" && SED_PRINT.test(rest[1] ?? "") && areOperands(rest.slice(2));
  return ![program, executable].some((word) => runsOthers(word) && !isApplet(program, word));
}

/** busybox under the name of one of its programs is that program. */
function isApplet(program: string, word: string): boolean {
  return word !== program && /^(busybox|toybox|coreutils)/.test(baseName(word));
}

function areOperands(words: readonly string[]): boolean {
  return words.every((word) => !word.startsWith("-"));
}
