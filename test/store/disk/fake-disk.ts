// An in-memory disk that tracks durability: file contents since their fdatasync, names since the fsync of the
// directory. Any call can be made to fail, a write also half-way.
import type { FileSystem } from "../../../src/store/disk/file-system.ts";
import type { JournalFileSystem } from "../../../src/store/journal/journal.ts";
import type { Random } from "../random.ts";

export type Call = keyof FileSystem;
/** The fault of one call: an errno it throws; a write first lets `part` of its bytes through. */
export interface Fault {
  errno?: string;
  part?: number;
}

interface Inode {
  data: Buffer;
  synced: Buffer;
  mtimeMs: number;
}

export class FakeDisk implements JournalFileSystem {
  /** Called before every operation; undefined lets it through. */
  fault: (call: Call, path: string) => Fault | undefined = () => undefined;
  #names = new Map<string, Inode>();
  /** The directory after each change since its fsync; a file system's journal keeps them in order. */
  #history: Map<string, Inode>[] = [new Map()];
  readonly #handles = new Map<number, { path: string; inode?: Inode }>();
  #nextFd = 3;

  get openHandles(): number {
    return this.#handles.size;
  }

  content(path: string): string | undefined {
    return this.#names.get(path)?.data.toString("utf8");
  }

  bytes(path: string): Buffer {
    return Buffer.from(this.#names.get(path)?.data ?? []);
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  put(path: string, data: Buffer): void {
    const inode = { data, synced: data, mtimeMs: 0 };
    this.#names.set(path, inode);
    this.#history = [new Map(this.#names)];
  }

  /** The process dies: handles are closed, everything written stays in the page cache. */
  kill(): void {
    this.#handles.clear();
    this.fault = () => undefined;
  }

  /** Power fails: any part of the unsynced data may survive. */
  powerCut(random: Random): void {
    this.kill();
    const names = this.#history[random(this.#history.length)] ?? new Map<string, Inode>();
    for (const inode of new Set(names.values())) {
      inode.data = surviving(inode, random);
      inode.synced = inode.data;
    }
    this.#names = names;
    this.#history = [new Map(names)];
  }

  openSync(path: string, flags: string): number {
    this.#check("openSync", path);
    let inode = this.#names.get(path);
    if (flags.startsWith("wx") && inode !== undefined) throw errno("EEXIST", path);
    const isDirectory = path === "/log";
    if (flags.startsWith("r") && inode === undefined && !isDirectory) throw errno("ENOENT", path);
    if (flags.startsWith("w")) {
      inode ??= { data: Buffer.alloc(0), synced: Buffer.alloc(0), mtimeMs: 0 };
      inode.data = Buffer.alloc(0);
      this.#names.set(path, inode);
      this.#history.push(new Map(this.#names));
    }
    this.#nextFd += 1;
    this.#handles.set(this.#nextFd, inode === undefined ? { path } : { path, inode });
    return this.#nextFd;
  }

  closeSync(fd: number): void {
    this.#handles.delete(fd);
  }

  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const { path, inode } = this.#file(fd);
    const fault = this.fault("writeSync", path);
    const part = fault === undefined ? length : Math.min(fault.part ?? 0, length);
    const end = position + part;
    const data = Buffer.alloc(Math.max(inode.data.length, end));
    inode.data.copy(data);
    data.set(bytes.subarray(offset, offset + part), position);
    inode.data = data;
    if (fault?.errno !== undefined) throw errno(fault.errno, path);
    return part;
  }

  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const { path, inode } = this.#file(fd);
    this.#check("readSync", path);
    const part = inode.data.subarray(position, position + length);
    bytes.set(part, offset);
    return part.length;
  }

  ftruncateSync(fd: number, length: number): void {
    const { path, inode } = this.#file(fd);
    this.#check("ftruncateSync", path);
    inode.data = inode.data.subarray(0, length);
  }

  fdatasyncSync(fd: number): void {
    const { path, inode } = this.#file(fd);
    this.#check("fdatasyncSync", path);
    inode.synced = inode.data;
  }

  fsyncSync(fd: number): void {
    this.#check("fsyncSync", this.#handles.get(fd)?.path ?? "");
    this.#history = [new Map(this.#names)];
  }

  fdatasync(fd: number, done: (error: Error | null) => void): void {
    later(() => this.fdatasyncSync(fd), done);
  }

  fsync(fd: number, done: (error: Error | null) => void): void {
    later(() => this.fsyncSync(fd), done);
  }

  fstatSync(fd: number): { size: number; mtimeMs: number } {
    const { inode } = this.#file(fd);
    return { size: inode.data.length, mtimeMs: inode.mtimeMs };
  }

  renameSync(from: string, to: string): void {
    this.#check("renameSync", from);
    const inode = this.#names.get(from);
    if (inode === undefined) throw errno("ENOENT", from);
    this.#names.delete(from);
    this.#names.set(to, inode);
    this.#history.push(new Map(this.#names));
  }

  unlinkSync(path: string): void {
    this.#check("unlinkSync", path);
    if (!this.#names.delete(path)) throw errno("ENOENT", path);
    this.#history.push(new Map(this.#names));
  }

  readdirSync(path: string): string[] {
    return this.paths().map((name) => name.slice(path.length + 1));
  }

  mkdirSync(): void {}

  #check(call: Call, path: string): void {
    const code = this.fault(call, path)?.errno;
    if (code !== undefined) throw errno(code, path);
  }

  #file(fd: number): { path: string; inode: Inode } {
    const handle = this.#handles.get(fd);
    if (handle?.inode === undefined) throw errno("EBADF", `fd ${fd}`);
    return { path: handle.path, inode: handle.inode };
  }
}

/** Synced data survives; after the first unsynced byte, new bytes may be cut or have holes of NULs. */
function surviving({ data, synced }: Inode, random: Random): Buffer {
  if (data.equals(synced) || random(4) === 0) return synced;
  let same = 0;
  while (same < data.length && same < synced.length && data[same] === synced[same]) same += 1;
  const kept = Buffer.from(data.subarray(0, same + random(data.length - same + 1)));
  if (random(3) === 0 && kept.length > same) {
    const start = same + random(kept.length - same);
    kept.fill(0, start, Math.min(kept.length, start + 1 + random(40)));
  }
  return kept;
}

function later(work: () => void, done: (error: Error | null) => void): void {
  try {
    work();
    done(null);
  } catch (error) {
    done(error as Error);
  }
}

function errno(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: injected, ${path}`), { code });
}
