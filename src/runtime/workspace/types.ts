// The directory the agent works in. All file access goes through it: names are looked up from a handle of the root,
// component by component, so that nothing outside can be reached even if the tree changes meanwhile.

export interface Workspace {
  /** Absolute and real. */
  readonly root: string;
  /**
   * Resolves a path from the model. Throws `path_outside` if it leaves the root, lexically or through a link. Absolute
   * paths within the root (as given, or real) are allowed. The last component need not exist.
   */
  locate(path: string): Promise<Located>;
  /** Throws `not_found`, `path_outside`, `not_a_file`, `too_large`, `hard_linked`. */
  read(path: string, options: { maxBytes: number }): Promise<FileContent>;
  /** For reading in chunks, whatever its size. Throws as `read` does. The caller closes it. */
  openFile(path: string): Promise<OpenFile>;
  /**
   * Creates parents; replaces the whole file. `expected`: its hash when it was read; null: it did not exist. `real`:
   * its real path at that time. Throws `changed_since` if either differs. `mode`: of a new file.
   */
  write(
    path: string,
    content: string | Buffer,
    expected?: string | null,
    real?: string,
    mode?: number,
  ): Promise<void>;
  /** Throws as `write` would if the file is no longer the one that was read. */
  check(path: string, expected: string, real: string): Promise<void>;
  /** Removes a file; `expected` and `real` as for `write`. Its directory stays. */
  remove(path: string, expected: string, real: string): Promise<void>;
  /**
   * Lists directories below the root, without entries that are gone or are neither file, directory nor link. Links are
   * not followed.
   */
  walk(path: string, options: WalkOptions): AsyncIterable<Entry>;
  close(): Promise<void>;
}

export interface Located {
  /** Relative to the root, with "/", as named by the caller ("." is the root). */
  lexical: string;
  /** The same with every link resolved. */
  real: string;
  exists: boolean;
  isDirectory: boolean;
}

export interface FileContent {
  bytes: Buffer;
  /** SHA-256 in hex. */
  hash: string;
  /** Permission bits. */
  mode: number;
  located: Located;
}

export interface OpenFile {
  readonly located: Located;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes read; 0 at the end. */
  read(buffer: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface WalkOptions {
  /** Names of directories to skip. */
  skip: ReadonlySet<string>;
  signal: AbortSignal;
}

export interface Entry {
  /** Relative to the root of the workspace, with "/". */
  path: string;
  isDirectory: boolean;
  /** A symbolic link to anything. */
  isLink: boolean;
  mtimeMs: number;
  size: number;
}

export interface FileChange {
  /** Relative to the workspace. */
  path: string;
  /** Absent: the file is new. */
  oldText?: string;
  newText: string;
  /** The file is removed; `newText` is empty. */
  isDeleted?: true;
  /** The new path, with `newText` as its content. */
  movedTo?: string;
}
