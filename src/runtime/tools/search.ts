// The interface of both searches (ripgrep and our own walk), and the directories both skip.
import type { Located, Workspace } from "../workspace/types.ts";

export interface Search {
  workspace: Workspace;
  pattern: string;
  /** A directory, or one file. */
  start: Located;
  /** Paths are relative to the workspace; secrets are refused here. */
  accepts(path: string): boolean;
  /** A subset of `accepts` in ripgrep's syntax; it only saves work. */
  plainGlob?: string;
  maxHits: number;
  signal: AbortSignal;
}

export interface Hit {
  path: string;
  line: number;
  /** Truncated if long. */
  text: string;
}

export interface SearchResult {
  hits: Hit[];
  /** There are more than `maxHits`. */
  isCut: boolean;
}

export const MAX_TEXT_BYTES = 400;

/** Directories of generated files: versions, packages, build output, caches. */
export const SKIPPED_IN_SEARCH: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".demian",
  "node_modules",
  "bower_components",
  "dist",
  "build",
  "out",
  "target",
  "coverage",
  ".next",
  ".nuxt",
  ".output",
  ".svelte-kit",
  ".turbo",
  ".cache",
  ".gradle",
  ".venv",
  "__pycache__",
  ".tox",
  ".mypy_cache",
  ".pytest_cache",
]);

export const SKIPPED_IN_GLOB: ReadonlySet<string> = new Set([".git", "node_modules", ".demian"]);
