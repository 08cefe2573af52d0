// The workspace of a session: a handle of its root directory, through which all access goes (`types.ts`).
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, read, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError, readErrno, toMessage } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { At } from "./at.ts";
import { joinPath, normalizePath } from "./lexical.ts";
import { LinkedSecrets } from "./linked-secrets.ts";
import { type Found, lookUp, type Origin } from "./look-up.ts";
import {
  changedSinceError,
  checkContent,
  checkReplaceable,
  describeKind,
  hardLinkedError,
  makeDirectories,
  replaceFile,
} from "./replace.ts";
import { selectAt } from "./system-at.ts";
import type { Entry, FileContent, Located, OpenFile, WalkOptions, Workspace } from "./types.ts";
import { walkDirectory } from "./walk.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Package managers fill these with hard links to their store; they are meant to be read. */
const LINKED_PACKAGES = new Set(["node_modules", ".venv", "venv", "site-packages"]);

type FoundFile = Extract<Found, { kind: "file" | "other" }>;

/** Throws `bad_cwd`. */
export async function openWorkspace(cwd: string, at: At = selectAt()): Promise<Workspace> {
  const given = resolve(cwd);
  try {
    const path = await realpath(given);
    const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return new HandleWorkspace({ at, fd, path }, [...new Set([path, given])]);
  } catch (cause) {
    const why = REASONS[readErrno(cause) ?? ""] ?? `cannot be opened: ${toMessage(cause)}`;
    throw new CodedError("bad_cwd", `the working directory ${cwd} ${why}; choose an existing directory`, {
      cause,
    });
  }
}

class HandleWorkspace implements Workspace {
  readonly root: string;
  readonly #origin: Origin;
  readonly #roots: readonly string[];
  readonly #linkedSecrets: LinkedSecrets;
  #isClosed = false;

  constructor(origin: Origin, roots: readonly string[]) {
    this.root = origin.path;
    this.#origin = origin;
    this.#roots = roots;
    this.#linkedSecrets = new LinkedSecrets(origin.path);
  }

  async locate(path: string): Promise<Located> {
    return this.#lookUp(path, (found, lexical) => toLocated(found, lexical));
  }

  async read(path: string, { maxBytes }: { maxBytes: number }): Promise<FileContent> {
    const file = await this.openFile(path);
    try {
      if (file.size > maxBytes) {
        throw new ToolError("too_large", `${path} has ${file.size} bytes; the limit is ${maxBytes}`);
      }
      // One byte more, to detect a file that grows meanwhile.
      const buffer = Buffer.alloc(Math.min(file.size, maxBytes) + 1);
      let length = 0;
      for (let got = -1; got !== 0 && length < buffer.length; length += got) {
        got = await file.read(buffer.subarray(length), length);
      }
      if (length > file.size) throw changedSinceError(path);
      const bytes = buffer.subarray(0, length);
      return {
        bytes,
        hash: createHash("sha256").update(bytes).digest("hex"),
        mode: file.mode,
        located: file.located,
      };
    } finally {
      await file.close();
    }
  }

  async openFile(path: string): Promise<OpenFile> {
    const { fd, stats, located } = this.#openFile(path);
    if (stats.nlink > 1 && (await this.#linkedSecrets.has(fd))) {
      this.#origin.at.close(fd);
      throw hardLinkedError(path);
    }
    return createOpenFile(this.#origin.at, fd, stats, located);
  }

  #openFile(path: string): { fd: number; stats: Stats; located: Located } {
    return this.#lookUp(path, (found, lexical) => {
      if (found.kind === "missing") throw new ToolError("not_found", `${path} does not exist`);
      if (found.kind !== "file")
        throw new ToolError("not_a_file", `${path} is ${describeKind(found.stats)}, not a file`);
      const fd = this.#origin.at.openFile(found.parent, found.name, O_RDONLY);
      try {
        const stats = fstatSync(fd);
        checkReadable(stats, found.real, path);
        return { fd, stats, located: toLocated(found, lexical) };
      } catch (error) {
        this.#origin.at.close(fd);
        throw error;
      }
    });
  }

  async write(
    path: string,
    content: string | Buffer,
    expected?: string | null,
    real?: string,
    mode?: number,
  ): Promise<void> {
    this.#lookUp(path, (found) => {
      if (real !== undefined && real !== joinPath(found.real)) throw changedSinceError(path);
      if (found.kind === "directory") throw new ToolError("not_a_file", `${path} is a directory, not a file`);
      const { at } = this.#origin;
      const order = { shown: path, content, expected, mode };
      if (found.kind === "missing") {
        const name = found.rest.at(-1) ?? "";
        const parents = found.rest.slice(0, -1);
        if (parents.length === 0) return replaceFile(at, found.parent, { ...order, name });
        if (typeof expected === "string") throw changedSinceError(path);
        const made = makeDirectories(at, found.parent, parents);
        try {
          return replaceFile(at, made, { ...order, name });
        } finally {
          at.close(made);
        }
      }
      checkReplaceable(found.stats, path);
      replaceFile(at, found.parent, { ...order, name: found.name });
    });
  }

  async check(path: string, expected: string, real: string): Promise<void> {
    this.#useFile(path, real, (found) => {
      checkContent(this.#origin.at, found.parent, { name: found.name, shown: path, expected });
    });
  }

  async remove(path: string, expected: string, real: string): Promise<void> {
    this.#useFile(path, real, (found) => {
      const { at } = this.#origin;
      checkContent(at, found.parent, { name: found.name, shown: path, expected });
      at.unlink(found.parent, found.name);
    });
  }

  /** Throws unless it may be replaced and is still at `real`. */
  #useFile(path: string, real: string, use: (found: FoundFile) => void): void {
    this.#lookUp(path, (found) => {
      if (real !== joinPath(found.real) || found.kind === "missing") throw changedSinceError(path);
      if (found.kind === "directory") throw new ToolError("not_a_file", `${path} is a directory, not a file`);
      checkReplaceable(found.stats, path);
      use(found);
    });
  }

  async *walk(path: string, options: WalkOptions): AsyncIterable<Entry> {
    const start = this.#lookUp(path, (found) => {
      if (found.kind === "missing") throw new ToolError("not_found", `${path} does not exist`);
      if (found.kind !== "directory") throw new ToolError("not_a_directory", `${path} is not a directory`);
      return { fd: this.#origin.at.reopen(found.fd), real: found.real };
    });
    yield* walkDirectory(this.#origin.at, start.fd, start.real, options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#origin.fd);
  }

  #lookUp<T>(path: string, use: (found: Found, lexical: string) => T): T {
    if (this.#isClosed) throw new ToolError("closed", "the session is closed");
    const names = normalizePath(path, this.#roots);
    try {
      if (fstatSync(this.#origin.fd).nlink === 0) throw deletedError(this.root);
      return lookUp(this.#origin, names, (found) => use(found, joinPath(names)));
    } catch (error) {
      throw explainError(error, path);
    }
  }
}

function toLocated(found: Found, lexical: string): Located {
  const isDirectory = found.kind === "directory";
  return { lexical, real: joinPath(found.real), exists: found.kind !== "missing", isDirectory };
}

function checkReadable(stats: Stats, real: readonly string[], shown: string): void {
  if (!stats.isFile()) throw new ToolError("not_a_file", `${shown} is ${describeKind(stats)}, not a file`);
  if (stats.nlink > 1 && !real.some((name) => LINKED_PACKAGES.has(name))) throw hardLinkedError(shown);
}

function createOpenFile(at: At, fd: number, stats: Stats, located: Located): OpenFile {
  let isOpen = true;
  return {
    located,
    size: stats.size,
    mode: stats.mode & 0o777,
    read: (buffer, position) =>
      new Promise((resolve, reject) => {
        read(fd, buffer, 0, buffer.length, position, (error, got) => (error ? reject(error) : resolve(got)));
      }),
    close: async () => {
      if (isOpen) at.close(fd);
      isOpen = false;
    },
  };
}

function deletedError(root: string): ToolError {
  return new ToolError(
    "workspace_gone",
    `the working directory ${root} was deleted; start again in another one`,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "is not a directory",
  EACCES: "cannot be accessed: permission denied",
  EPERM: "cannot be accessed: permission denied",
  ELOOP: "leads through too many links, or was replaced by a link meanwhile",
  ENAMETOOLONG: "has a name that is too long",
  EROFS: "is on a read-only file system",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the disk quota is exceeded",
  EMFILE: "cannot be opened now: too many files are open",
  ENFILE: "cannot be opened now: too many files are open",
  ENXIO: "is a socket or a device, not a file",
  EOPNOTSUPP: "is a socket or a device, not a file",
};
const CODES: Readonly<Record<string, string>> = { ENOENT: "not_found", ENOTDIR: "not_a_directory" };

/** System errors name paths of handles, which mean nothing to the model. */
function explainError(error: unknown, path: string): unknown {
  const errno = readErrno(error);
  if (error instanceof ToolError || errno === undefined || !/^E[A-Z0-9]+$/.test(errno)) return error;
  return new ToolError(
    CODES[errno] ?? "not_accessible",
    `${path} ${REASONS[errno] ?? `failed with ${errno}`}`,
  );
}
