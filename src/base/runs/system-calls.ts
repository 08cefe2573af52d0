// System calls for run directories that Node lacks: FIFOs, their size, and freeing the start of a file. Through koffi,
// loaded on first use; without it a FIFO is made by the program `mkfifo`, and the rest is skipped.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

export interface SystemCalls {
  makeFifo(path: string): void;
  /** Lets a FIFO hold more than the usual 64 KiB. */
  growFifo(fd: number): void;
  /** Frees the disk space of these bytes; offsets stay valid. Returns false if the file system does not support it. */
  freeSpace(fd: number, from: number, to: number): boolean;
  /** Gives memory that malloc holds free back to the system. */
  trimMemory(): void;
}

export const FIFO_BYTES = 1024 * 1024;
const F_SETPIPE_SZ = 1031;
/** FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE */
const PUNCH_HOLE = 3;
const OWNER_ONLY = 0o600;

type Fn = (...args: unknown[]) => number;

let loaded: SystemCalls | undefined;

export function loadSystemCalls(): SystemCalls {
  loaded ??= load();
  return loaded;
}

function load(): SystemCalls {
  let koffi: typeof import("koffi");
  try {
    koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  } catch {
    return PLAIN;
  }
  const libc = koffi.load(null);
  const mkfifo = libc.func("int mkfifo(const char *path, unsigned int mode)");
  const isLinux = process.platform === "linux";
  const fcntl = isLinux ? (libc.func("int fcntl(int fd, int command, ...)") as unknown as Fn) : undefined;
  const fallocate = isLinux
    ? (libc.func("int fallocate(int fd, int mode, int64_t offset, int64_t length)") as unknown as Fn)
    : undefined;
  const trim = isLinux ? findTrim(libc) : undefined;
  return {
    makeFifo(path) {
      if (mkfifo(path, OWNER_ONLY) === 0) return;
      const errno = koffi.errno();
      const code = Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? "UNKNOWN";
      throw Object.assign(new Error(`${code}: mkfifo '${path}'`), { code });
    },
    growFifo(fd) {
      // Fails if the user's limit for pipes is reached; the FIFO then stays small.
      fcntl?.(fd, F_SETPIPE_SZ, "int", FIFO_BYTES);
    },
    trimMemory: () => void trim?.(0),
    freeSpace: (fd, from, to) => fallocate?.(fd, PUNCH_HOLE, from, to - from) === 0,
  };
}

/** Only glibc has it. */
function findTrim(libc: { func(prototype: string): unknown }): Fn | undefined {
  try {
    return libc.func("int malloc_trim(size_t pad)") as Fn;
  } catch {
    return undefined;
  }
}

const PLAIN: SystemCalls = {
  trimMemory: () => undefined,
  makeFifo: (path) => void execFileSync("mkfifo", ["-m", "600", path], { stdio: "pipe" }),
  growFifo: () => undefined,
  freeSpace: () => false,
};
