// The directory that the agent works in. Every access to files goes through it: names are looked up from a handle of
// the root, component by component, so that nothing outside can be reached however the tree changes meanwhile.

export interface Workspace {
  /** Absolute and real. */
  readonly root: string;
  /**
   * Where a path of the model leads. Throws `path_outside` when it leaves the root, lexically or by a link. Absolute
   * paths below the root (as it was given, or real) are taken too. The last component need not exist.
   */
  locate(path: string): Promise<Located>;
  /** Throws `not_found`, `path_outside`, `not_a_file`, `too_large`, `hard_linked`. */
  read(path: string, options: { maxBytes: number }): Promise<FileContent>;
  /** For reading in pieces, whatever its size. Throws as `read` does. The caller closes it. */
  openFile(path: string): Promise<OpenFile>;
  /**
   * Creates parents; replaces the file as a whole. `expected`: the hash it had when it was looked at; null: it was not
   * there. `real`: where it led when it was looked at. Throws `changed_since` when one of them is no longer so.
   */
  write(path: string, content: string, expected?: string | null, real?: string): Promise<void>;
  /**
   * Of directories below the root; what vanishes meanwhile, and what is neither file, directory nor link, is left out.
   * Links are not followed.
   */
  walk(path: string, options: WalkOptions): AsyncIterable<Entry>;
  close(): Promise<void>;
}

export interface Located {
  /** Relative to the root, with "/", as it was named ("." is the root). */
  lexical: string;
  /** The same after every link in it. */
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
  /** How many bytes were read; 0 at the end. */
  read(buffer: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface WalkOptions {
  /** Names of directories that are not entered. */
  skip: ReadonlySet<string>;
  signal: AbortSignal;
}

export interface Entry {
  /** Relative to the root of the workspace, with "/". */
  path: string;
  isDirectory: boolean;
  /** A symbolic link, to whatever. */
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
