// openat(2) and related calls of the C library, through koffi. Loaded on first use.
import { constants, fstatSync } from "node:fs";
import { createRequire } from "node:module";
import { constants as osConstants } from "node:os";
import { CodedError } from "../../base/coded-error.ts";
import { type At, checkName } from "./at.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const MAX_LINK_BYTES = 4096;

/** Constants missing from node:fs, and the offset of the name in `struct dirent`. */
interface System {
  closeOnExec: number;
  /** Opens a name, or the link itself, for lookup only: neither reads nor blocks. */
  lookOnly: number;
  nameOffset: number;
  /** Symbol suffix of the 64-bit inode variants, on one platform. */
  suffix: string;
}

const LINUX: System = {
  closeOnExec: 0o2000000,
  lookOnly: 0o10000000 | O_NOFOLLOW,
  nameOffset: 19,
  suffix: "",
};
const DARWIN: System = {
  closeOnExec: 0x1000000,
  lookOnly: 0x8000 | 0x200000 | O_NONBLOCK,
  nameOffset: 21,
  suffix: process.arch === "x64" ? "$INODE64" : "",
};

type Fn = (...args: unknown[]) => number;

export function createKoffiAt(): At {
  const system = process.platform === "darwin" ? DARWIN : LINUX;
  const koffi = loadKoffi();
  const libc = koffi.load(null);
  // Declared with `...` like the C prototype: arm64 macOS passes these arguments differently.
  const openat = libc.func("int openat(int fd, const char *path, int flags, ...)") as unknown as Fn;
  const readlinkat = libc.func(
    "intptr_t readlinkat(int fd, const char *path, _Out_ uint8_t *buffer, size_t size)",
  );
  const mkdirat = libc.func("int mkdirat(int fd, const char *path, unsigned int mode)");
  const renameat = libc.func("int renameat(int fd, const char *from, int toFd, const char *to)");
  const unlinkat = libc.func("int unlinkat(int fd, const char *path, int flags)");
  // Not Node's close: in a worker thread it tracks its own descriptors and complains about others.
  const close = libc.func("int close(int fd)");
  const fdopendir = libc.func(`void *fdopendir${system.suffix}(int fd)`);
  const readdir = libc.func(`void *readdir${system.suffix}(void *dir)`);
  const closedir = libc.func("int closedir(void *dir)");

  const checkResult = (result: number, call: string, name: string): number => {
    if (result >= 0) return result;
    throw toErrnoError(koffi.errno(), call, name);
  };
  const open = (directory: number, name: string, flags: number, mode = 0) =>
    checkResult(openat(directory, checkName(name), flags | system.closeOnExec, "int", mode), "open", name);

  const reopen = (directory: number) =>
    checkResult(openat(directory, ".", O_RDONLY | O_DIRECTORY | system.closeOnExec, "int", 0), "open", ".");

  return {
    kind: "koffi",
    close: (fd) => {
      close(fd);
    },
    reopen,
    openDirectory: (directory, name) => open(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
    openFile: (directory, name, flags, mode) => open(directory, name, flags | O_NOFOLLOW | O_NONBLOCK, mode),
    stat: (directory, name) => {
      const fd = open(directory, name, system.lookOnly);
      try {
        return fstatSync(fd);
      } finally {
        close(fd);
      }
    },
    readLink: (directory, name) => {
      const buffer = Buffer.alloc(MAX_LINK_BYTES);
      const length = readlinkat(directory, checkName(name), buffer, buffer.length) as number;
      return buffer.toString("utf8", 0, checkResult(Number(length), "readlink", name));
    },
    makeDirectory: (directory, name, mode) => {
      checkResult(mkdirat(directory, checkName(name), mode), "mkdir", name);
    },
    rename: (directory, from, to) => {
      checkResult(renameat(directory, checkName(from), directory, checkName(to)), "rename", from);
    },
    unlink: (directory, name) => {
      checkResult(unlinkat(directory, checkName(name), 0), "unlink", name);
    },
    list: (directory) => {
      // closedir closes the descriptor too.
      const copy = reopen(directory);
      const stream: unknown = fdopendir(copy);
      if (stream === null) {
        close(copy);
        throw toErrnoError(koffi.errno(), "opendir", ".");
      }
      try {
        const names: string[] = [];
        for (let entry: unknown = readdir(stream); entry !== null; entry = readdir(stream)) {
          const name = koffi.decode(entry, system.nameOffset, "char", -1) as string;
          if (name !== "." && name !== "..") names.push(name);
        }
        return names;
      } finally {
        closedir(stream);
      }
    },
  };
}

function loadKoffi(): typeof import("koffi") {
  try {
    return createRequire(import.meta.url)("koffi") as typeof import("koffi");
  } catch (cause) {
    const message =
      "files cannot be opened safely here: neither /proc nor the native package koffi is available; install koffi";
    throw new CodedError("no_file_access", message, { cause });
  }
}

function toErrnoError(errno: number, call: string, name: string): Error {
  const code = Object.entries(osConstants.errno).find(([, value]) => value === errno)?.[0] ?? "UNKNOWN";
  return Object.assign(new Error(`${code}: ${call} '${name}'`), { code, errno: -errno, syscall: call });
}
