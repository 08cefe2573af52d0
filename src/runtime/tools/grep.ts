// grep: lines of files that fit a regular expression.
import * as z from "zod";
import { globMatcher } from "../workspace/glob.ts";
import { isSecretPath } from "../workspace/protected.ts";
import type { Located } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { checkReadable, checkSamePath, pathTarget, shownPath } from "./guard.ts";
import { capOutput } from "./output.ts";
import { findRipgrep, searchWithRipgrep } from "./ripgrep.ts";
import type { Search, SearchResult } from "./search.ts";
import { ToolError } from "./types.ts";
import { searchByWalking } from "./walking-search.ts";

const MAX_MATCHES = 200;
const LIMIT_MS = 60_000;
/** Globs that mean the same to ripgrep: they only spare it work. */
const PLAIN_GLOB = /^[\w.*-]+$/;

const Input = z.strictObject({
  pattern: z.string().min(1).max(10_000).describe("A regular expression, matched line by line."),
  path: z
    .string()
    .min(1)
    .optional()
    .describe("Where to search: a directory or a file; the working directory by default."),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe('Only files that fit, such as "*.ts", "src/**/*.{ts,tsx}" or "!*.test.ts".'),
});

export const grepTool = defineTool({
  name: "grep",
  description:
    `Searches files for a regular expression and lists up to ${MAX_MATCHES} matches as path:line:text. ` +
    "Leaves out .git, node_modules, build output (dist, build, out, target, coverage, …) and binary files; " +
    "to search in one of these directories, name it as the path.",
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  async plan({ pattern, path }, { workspace }) {
    const located = await workspace.locate(path ?? ".");
    if (!located.exists) throw new ToolError("not_found", `${path} does not exist`);
    const title = `grep: ${shownPath(pattern)} in ${shownPath(located.lexical)}`;
    return { title, targets: [pathTarget("read", located)] };
  },
  async execute({ pattern, path, glob }, plan, { workspace, signal, mayRead, keepOutput }) {
    const start = await workspace.locate(path ?? ".");
    checkReadable(start);
    checkSamePath(plan, start);
    if (!start.isDirectory) await (await workspace.openFile(path ?? ".")).close();
    const limit = AbortSignal.timeout(LIMIT_MS);
    const search: Search = {
      workspace,
      pattern: oneLine(pattern),
      start,
      accepts: acceptsOf(start, glob, mayRead),
      ...(glob !== undefined && PLAIN_GLOB.test(glob) ? { plainGlob: glob } : {}),
      maxHits: MAX_MATCHES,
      signal: AbortSignal.any([signal, limit]),
    };
    try {
      return await rendered(await run(search), keepOutput);
    } catch (error) {
      if (!limit.aborted || signal.aborted) throw error;
      const advice = "narrow it with path or glob";
      throw new ToolError("timed_out", `the search took longer than ${LIMIT_MS / 1000} s; ${advice}`);
    }
  },
});

async function run(search: Search): Promise<SearchResult> {
  const ripgrep = await findRipgrep(search.workspace.root);
  if (ripgrep === undefined) return searchByWalking(search);
  try {
    return await searchWithRipgrep(ripgrep, search);
  } catch (error) {
    // One that does not run here, or a working directory that has another name by now.
    if (error instanceof ToolError && error.code === "search_failed") return searchByWalking(search);
    throw error;
  }
}

/** Lines are searched one by one, so an end of line can never fit. */
function oneLine(pattern: string): string {
  if (!/[\n\r\0]/.test(pattern)) return pattern;
  throw new ToolError("bad_pattern", "the pattern contains a line break; lines are searched one by one");
}

/** A glob is meant from the working directory or from the path, whichever the model had in mind. */
export function acceptsOf(
  start: Located,
  glob: string | undefined,
  mayRead: (path: string) => boolean,
): (path: string) => boolean {
  const isOpen = (path: string) => !isSecretPath(path) && mayRead(path);
  if (glob === undefined || !start.isDirectory) return isOpen;
  const fits = globMatcher(glob, { anyDepth: true });
  const prefix = start.real === "." ? "" : `${start.real}/`;
  const isNegated = glob.startsWith("!");
  return (path) => {
    if (!isOpen(path)) return false;
    const below = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    return isNegated ? fits(path) && fits(below) : fits(path) || fits(below);
  };
}

async function rendered({ hits, isCut }: SearchResult, keep: (text: string | Buffer) => Promise<string>) {
  if (hits.length === 0) return { ok: true, content: "no matches" };
  const lines = hits.map(({ path, line, text }) => `${shownPath(path)}:${line}:${text}`);
  const more = isCut
    ? [`\n[the first ${hits.length} matches; there are more: narrow the pattern, path or glob]`]
    : [];
  const { content, truncated, outputFile } = await capOutput([...lines, ...more].join("\n"), keep);
  const metadata = { matches: hits.length, truncated: truncated || isCut };
  return { ok: true, content, metadata: outputFile === undefined ? metadata : { ...metadata, outputFile } };
}
