// What the system says about running processes: parent, start time, user and environment. Linux: /proc. Elsewhere: ps.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessFacts {
  pid: number;
  ppid: number;
  /** Comparable only with that of another process, and only if they are from the same source. */
  started: number;
}

export interface ProcessSource {
  /** `missing`: there is none, or it belongs to another user and is not shown. `unavailable`: the system does not say. */
  read(pid: number): ProcessFacts | "missing" | "unavailable";
  /** The variables it was started with. `hidden`: the process does not let its own user read them. */
  readVariable(pid: number, name: string): string | undefined;
  isHidden(pid: number): boolean;
  /** The real user; undefined if it is not known. */
  readUser(pid: number): number | undefined;
}

const PS_LIMIT_MS = 2000;

/** Synchronous: a /proc file is in memory and read in microseconds. */
export function createProcSource(readFile: (path: string) => string = readFileText): ProcessSource {
  const environments = new Map<number, readonly string[] | "hidden">();
  const readEnvironment = (pid: number): readonly string[] | "hidden" => {
    const known = environments.get(pid);
    if (known !== undefined) return known;
    const found = tryRead(() => readFile(`/proc/${pid}/environ`));
    const lines = typeof found === "string" ? found.split("\0") : found.isRefused ? "hidden" : [];
    environments.set(pid, lines);
    return lines;
  };
  const readUser = (pid: number): number | undefined => {
    const status = tryRead(() => readFile(`/proc/${pid}/status`));
    const uid = typeof status === "string" ? /^Uid:\s+(\d+)/m.exec(status)?.[1] : undefined;
    return uid === undefined ? undefined : Number(uid);
  };
  return {
    read(pid) {
      const stat = tryRead(() => readFile(`/proc/${pid}/stat`));
      if (typeof stat !== "string") return "missing";
      // The name (field 2) may contain spaces and parentheses; the other fields start after the last ")".
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return { pid, ppid: Number(fields[1]), started: Number(fields[19]) };
    },
    readVariable(pid, name) {
      const lines = readEnvironment(pid);
      if (lines === "hidden") return undefined;
      return lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
    },
    isHidden: (pid) => readEnvironment(pid) === "hidden" && readUser(pid) === process.getuid?.(),
    readUser,
  };
}

/** `run`: runs ps. The environment is in the same line as the arguments. Some systems do not show it for all programs. */
export function createPsSource(run: (args: readonly string[]) => string = runPs): ProcessSource {
  let table: ReadonlyMap<number, ProcessFacts & { uid: number }> | undefined;
  let isAvailable = true;
  const readTable = (): ReadonlyMap<number, ProcessFacts & { uid: number }> => {
    if (table !== undefined) return table;
    const text = tryRead(() => run(["-axo", "pid=,ppid=,uid=,lstart="]));
    isAvailable = typeof text === "string" && text !== "";
    table = parseTable(typeof text === "string" ? text : "");
    return table;
  };
  return {
    read(pid) {
      const found = readTable().get(pid);
      return found ?? (isAvailable ? "missing" : "unavailable");
    },
    readVariable(pid, name) {
      const line = tryRead(() => run(["eww", "-o", "command=", "-p", String(pid)]));
      if (typeof line !== "string") return undefined;
      return new RegExp(`(?:^|\\s)${name}=(.*?)(?=\\s[A-Za-z_][A-Za-z0-9_]*=|\\s*$)`, "m").exec(line)?.[1];
    },
    isHidden: () => false,
    readUser: (pid) => readTable().get(pid)?.uid,
  };
}

/** Of this system. It remembers what it has read: one per lookup. */
export function createProcessSource(): ProcessSource {
  return process.platform === "linux" ? createProcSource() : createPsSource();
}

function parseTable(text: string): Map<number, ProcessFacts & { uid: number }> {
  return new Map(
    text.split("\n").flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line);
      if (match === null) return [];
      const [, pid, ppid, uid] = match.map(Number);
      if (pid === undefined || ppid === undefined || uid === undefined) return [];
      return [[pid, { pid, ppid, uid, started: Date.parse(match[4] ?? "") }] as const];
    }),
  );
}

function tryRead(read: () => string): string | { isRefused: boolean } {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { isRefused: code === "EACCES" || code === "EPERM" };
  }
}

function readFileText(path: string): string {
  return readFileSync(path, "utf8");
}

function runPs(args: readonly string[]): string {
  return execFileSync("ps", [...args], {
    encoding: "utf8",
    timeout: PS_LIMIT_MS,
    maxBuffer: 16 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"],
  });
}
