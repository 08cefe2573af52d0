// What both ways to search (ripgrep, and our own walk) are asked and give back, and where neither looks.
import type { Located, Workspace } from "../workspace/types.ts";

export interface Search {
  workspace: Workspace;
  pattern: string;
  /** A directory, or one file. */
  start: Located;
  /** Paths relative to the workspace; secrets are refused here, whatever finds them. */
  accepts(path: string): boolean;
  /** Fits a subset of what `accepts` does, in ripgrep's own words; it spares work only. */
  plainGlob?: string;
  maxHits: number;
  signal: AbortSignal;
}

export interface Hit {
  path: string;
  line: number;
  /** Cut where it is long. */
  text: string;
}

export interface SearchResult {
  hits: Hit[];
  /** There are more than `maxHits`. */
  isCut: boolean;
}

export const MAX_TEXT_BYTES = 400;

/** Directories with what others made: versions, packages, build output, caches. */
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
