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
   * its real path at that time. Throws `changed_since` if either differs.
   */
  write(path: string, content: string, expected?: string | null, real?: string): Promise<void>;
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
  located: Located;
}

export interface OpenFile {
  readonly located: Located;
  readonly size: number;
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
}
