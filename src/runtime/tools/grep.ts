// grep: finds lines that match a regular expression.
import * as z from "zod";
import { createGlobMatcher } from "../workspace/glob.ts";
import { isSecretPath } from "../workspace/protected.ts";
import type { Located } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { checkReadable, checkSamePath, formatPath, toPathTarget } from "./guard.ts";
import { capOutput } from "./output.ts";
import { findRipgrep, searchWithRipgrep } from "./ripgrep.ts";
import type { Search, SearchResult } from "./search.ts";
import { ToolError } from "./types.ts";
import { searchByWalking } from "./walking-search.ts";

const MAX_MATCHES = 200;
const LIMIT_MS = 60_000;
/** Globs with the same meaning in ripgrep; they only save work. */
const PLAIN_GLOB = /^[\w.*-]+$/;

const Input = z.strictObject({
  pattern: z.string().min(1).max(10_000).describe("A regular expression, matched line by line."),
  path: z
    .string()
    .min(1)
    .optional()
    .describe("The directory or file to search. Default: the working directory."),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe('Only files that match, for example "*.ts", "src/**/*.{ts,tsx}" or "!*.test.ts".'),
});

export const grepTool = defineTool({
  name: "grep",
  description:
    `Searches files for a regular expression and lists up to ${MAX_MATCHES} matches as path:line:text. ` +
    "Skips .git, node_modules, build output (dist, build, out, target, coverage, …) and binary files; " +
    "to search one of these directories, name it in path.",
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  async plan({ pattern, path }, { workspace }) {
    const located = await workspace.locate(path ?? ".");
    if (!located.exists) throw new ToolError("not_found", `${path} does not exist`);
    const title = `grep: ${formatPath(pattern)} in ${formatPath(located.lexical)}`;
    return { title, targets: [toPathTarget("read", located)] };
  },
  async execute({ pattern, path, glob }, plan, { workspace, signal, mayRead, keepOutput }) {
    const start = await workspace.locate(path ?? ".");
    checkReadable(start);
    checkSamePath(plan, start);
    if (!start.isDirectory) await (await workspace.openFile(path ?? ".")).close();
    const limit = AbortSignal.timeout(LIMIT_MS);
    const search: Search = {
      workspace,
      pattern: checkOneLine(pattern),
      start,
      accepts: createFileFilter(start, glob, mayRead),
      ...(glob !== undefined && PLAIN_GLOB.test(glob) ? { plainGlob: glob } : {}),
      maxHits: MAX_MATCHES,
      signal: AbortSignal.any([signal, limit]),
    };
    try {
      return await renderHits(await runSearch(search), keepOutput);
    } catch (error) {
      if (!limit.aborted || signal.aborted) throw error;
      const advice = "narrow it with path or glob";
      throw new ToolError("timed_out", `the search took longer than ${LIMIT_MS / 1000} s; ${advice}`);
    }
  },
});

async function runSearch(search: Search): Promise<SearchResult> {
  const ripgrep = await findRipgrep(search.workspace.root);
  if (ripgrep === undefined) return searchByWalking(search);
  try {
    return await searchWithRipgrep(ripgrep, search);
  } catch (error) {
    // ripgrep does not run here, or the working directory was renamed.
    if (error instanceof ToolError && error.code === "search_failed") return searchByWalking(search);
    throw error;
  }
}

/** Lines are searched one by one, so a line break can never match. */
function checkOneLine(pattern: string): string {
  if (!/[\n\r\0]/.test(pattern)) return pattern;
  throw new ToolError("bad_pattern", "the pattern contains a line break; lines are searched one by one");
}

/** A glob may be relative to the working directory or to the path; the model may mean either. */
export function createFileFilter(
  start: Located,
  glob: string | undefined,
  mayRead: (path: string) => boolean,
): (path: string) => boolean {
  const isOpen = (path: string) => !isSecretPath(path) && mayRead(path);
  if (glob === undefined || !start.isDirectory) return isOpen;
  const fits = createGlobMatcher(glob, { anyDepth: true });
  const prefix = start.real === "." ? "" : `${start.real}/`;
  const isNegated = glob.startsWith("!");
  return (path) => {
    if (!isOpen(path)) return false;
    const below = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    return isNegated ? fits(path) && fits(below) : fits(path) || fits(below);
  };
}

async function renderHits({ hits, isCut }: SearchResult, keep: (text: string | Buffer) => Promise<string>) {
  if (hits.length === 0) return { ok: true, content: "no matches" };
  const lines = hits.map(({ path, line, text }) => `${formatPath(path)}:${line}:${text}`);
  const more = isCut
    ? [`\n[the first ${hits.length} matches; there are more: narrow the pattern, path or glob]`]
    : [];
  const { content, truncated, outputFile } = await capOutput([...lines, ...more].join("\n"), keep);
  const metadata = { matches: hits.length, truncated: truncated || isCut };
  return { ok: true, content, metadata: outputFile === undefined ? metadata : { ...metadata, outputFile } };
}
