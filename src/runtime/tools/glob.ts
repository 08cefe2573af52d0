// glob: lists files whose path matches a pattern, newest first.
import * as z from "zod";
import { createGlobMatcher } from "../workspace/glob.ts";
import { outsideError } from "../workspace/lexical.ts";
import { isSecretPath } from "../workspace/protected.ts";
import type { Entry, Workspace } from "../workspace/types.ts";
import { defineTool } from "./define.ts";
import { checkReadable, checkSamePath, formatPath, isSecret, toPathTarget } from "./guard.ts";
import { capOutput } from "./output.ts";
import { SKIPPED_IN_GLOB } from "./search.ts";
import { ToolError } from "./types.ts";

const MAX_PATHS = 1000;
/** More than are shown, to sort less often. */
const MAX_HELD = 10 * MAX_PATHS;

const Input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe(
      'For example "**/*.ts" or "src/**/*.{ts,tsx}". Without a "/" it matches names in every directory.',
    ),
  path: z.string().min(1).optional().describe("The directory to search. Default: the working directory."),
});

export const globTool = defineTool({
  name: "glob",
  description:
    `Lists files whose path matches a glob pattern, most recently changed first, up to ${MAX_PATHS}. ` +
    "Skips .git and node_modules; to search one of these, name it in path.",
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  async plan({ pattern, path }, { workspace }) {
    const located = await workspace.locate(path ?? ".");
    if (!located.exists) throw new ToolError("not_found", `${path} does not exist`);
    if (!located.isDirectory) throw new ToolError("not_a_directory", `${path} is a file; name a directory`);
    const title = `glob: ${formatPath(pattern)} in ${formatPath(located.lexical)}`;
    return { title, targets: [toPathTarget("read", located)] };
  },
  async execute({ pattern, path }, plan, { workspace, signal, mayRead, keepOutput }) {
    const start = await workspace.locate(path ?? ".");
    checkReadable(start);
    checkSamePath(plan, start);
    const { fits, from } = await narrowPattern(
      workspace,
      start.real,
      toRelativePattern(pattern, workspace.root, start.real),
    );
    const prefix = from === "." ? "" : `${from}/`;
    const newest = new Newest();
    for await (const entry of workspace.walk(from, { skip: SKIPPED_IN_GLOB, signal })) {
      if (entry.isDirectory || isSecretPath(entry.path) || !fits(entry.path.slice(prefix.length))) continue;
      if (!mayRead(entry.path)) continue;
      if (!entry.isLink || (await isOpenLink(workspace, entry.path, mayRead))) newest.add(entry);
    }
    if (newest.count === 0) return { ok: true, content: "no files match" };
    const paths = newest.listPaths();
    const more =
      newest.count > paths.length
        ? [`\n[the newest ${paths.length} of ${newest.count} files; narrow the pattern]`]
        : [];
    const capped = await capOutput([...paths.map(formatPath), ...more].join("\n"), keepOutput);
    const metadata = { files: newest.count, truncated: capped.truncated || more.length > 0 };
    const { content, outputFile } = capped;
    return { ok: true, content, metadata: outputFile === undefined ? metadata : { ...metadata, outputFile } };
  },
});

/** Absolute patterns within the working directory are allowed too. */
function toRelativePattern(pattern: string, root: string, start: string): string {
  const base = start === "." ? root : `${root}/${start}`;
  const relative = pattern.startsWith(`${base}/`) ? pattern.slice(base.length + 1) : pattern;
  if (relative.startsWith("/") || relative.split("/").includes("..")) throw outsideError(pattern);
  return relative;
}

/** Searches only below the leading plain names of a pattern, which may be in a directory that is skipped otherwise. */
async function narrowPattern(
  workspace: Workspace,
  start: string,
  pattern: string,
): Promise<{ fits: (path: string) => boolean; from: string }> {
  const whole = { fits: createGlobMatcher(pattern, { anyDepth: true }), from: start };
  const [, plain, rest] = /^((?:[^*?[\]{}\\!/]+\/)+)(.+)$/.exec(pattern) ?? [];
  if (plain === undefined || rest === undefined || rest.startsWith("!")) return whole;
  const located = await workspace.locate(`${start}/${plain}`).catch(() => undefined);
  // A link may point anywhere: only the start and what is below it was allowed.
  if (located?.isDirectory !== true || located.real !== located.lexical) return whole;
  return { fits: createGlobMatcher(rest), from: located.real };
}

/** Whether a link leads to a file inside the workspace that may be read. */
async function isOpenLink(
  workspace: Workspace,
  path: string,
  mayRead: (path: string) => boolean,
): Promise<boolean> {
  const located = await workspace.locate(path).catch(() => undefined);
  if (located?.exists !== true || located.isDirectory) return false;
  return !isSecret(located) && mayRead(located.real);
}

class Newest {
  #entries: { path: string; mtimeMs: number }[] = [];
  count = 0;

  add({ path, mtimeMs }: Entry): void {
    this.count += 1;
    this.#entries.push({ path, mtimeMs });
    if (this.#entries.length > MAX_HELD) this.#trim();
  }

  listPaths(): string[] {
    this.#trim();
    return this.#entries.map(({ path }) => path);
  }

  #trim(): void {
    this.#entries.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
    this.#entries.length = Math.min(this.#entries.length, MAX_PATHS);
  }
}
