// Searches with ripgrep. It resolves paths by name, so its hits only say where to look: every line shown is read again
// through the workspace, and nothing from outside gets in even if directories are swapped meanwhile.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { isExecutable } from "../../base/executable.ts";
import { HitReader } from "./hit-reader.ts";
import { type Hit, MAX_TEXT_BYTES, type Search, type SearchResult, SKIPPED_IN_SEARCH } from "./search.ts";
import { ToolError } from "./types.ts";

const MAX_ERROR_BYTES = 4096;
/** A record is a path and a truncated line. */
const MAX_RECORD_BYTES = 1024 * 1024;
const NUL = 0;
const LF = 0x0a;

/** The bundled one, or one on PATH; never one from the workspace. */
export async function findRipgrep(
  root: string,
  searchPath = process.env["PATH"] ?? "",
): Promise<string | undefined> {
  const own = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined, // not installed for this platform
  );
  const onPath = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && folder !== root && !folder.startsWith(`${root}/`))
    .map((folder) => join(folder, "rg"));
  for (const candidate of [...(own === undefined ? [] : [own]), ...onPath]) {
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** Throws `bad_pattern`, and `search_failed` if ripgrep cannot run. */
export async function searchWithRipgrep(program: string, search: Search): Promise<SearchResult> {
  search.signal.throwIfAborted();
  const child = startSearch(program, search);
  const kill = () => void child.kill("SIGKILL");
  search.signal.addEventListener("abort", kill, { once: true });
  const reader = new HitReader(search.workspace);
  const ended = waitForEnd(child);
  try {
    const result = await collect(child.stdout, search, reader);
    // Kills one that is still searching; the others end with an exit code.
    if (result.isCut) kill();
    const { code, errors } = await ended;
    search.signal.throwIfAborted();
    if (code === 2 && result.hits.length === 0 && errors !== "") throw toFailure(errors);
    return result;
  } finally {
    kill();
    search.signal.removeEventListener("abort", kill);
    await reader.close();
    // A process that failed to start was reported above, or ends with the signal.
    await ended.catch(() => undefined);
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function startSearch(program: string, { workspace, pattern, start: from, plainGlob }: Search): Child {
  const { RIPGREP_CONFIG_PATH: _, ...env } = process.env;
  const globs = [
    ...(plainGlob === undefined ? [] : [plainGlob]),
    ...[...SKIPPED_IN_SEARCH].map((name) => `!${name}/`),
  ];
  const args = [
    "--no-config",
    "--no-follow",
    "--no-ignore",
    "--hidden",
    "--no-messages",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    "--line-number",
    "--byte-offset",
    "--encoding=none",
    "--crlf",
    "--engine=auto",
    "--sort=path",
    `--max-columns=${MAX_TEXT_BYTES}`,
    "--max-columns-preview",
    ...globs.map((glob) => `--glob=${glob}`),
    "-e",
    pattern,
    "--",
    `./${from.real}`,
  ];
  return spawn(program, args, { cwd: workspace.root, env, stdio: ["ignore", "pipe", "pipe"] });
}

function waitForEnd(child: Child): Promise<{ code: number | null; errors: string }> {
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.length < MAX_ERROR_BYTES) errors += chunk.toString("utf8");
  });
  const ended = new Promise<{ code: number | null; errors: string }>((resolve, reject) => {
    child.once("error", (cause) => reject(toStartFailure(cause)));
    child.once("close", (code) => resolve({ code, errors: errors.slice(0, MAX_ERROR_BYTES) }));
  });
  // Awaited later; until then it must not count as unhandled.
  ended.catch(() => undefined);
  return ended;
}

async function collect(output: Readable, search: Search, reader: HitReader): Promise<SearchResult> {
  const hits: Hit[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let record = cutRecord(rest); record !== undefined; record = cutRecord(rest)) {
      rest = record.rest;
      const hit = search.accepts(record.path) ? await reader.read(record) : undefined;
      if (hit === undefined) continue;
      if (hits.length === search.maxHits) return { hits, isCut: true };
      hits.push(hit);
    }
    if (rest.length > MAX_RECORD_BYTES) return { hits, isCut: true };
  }
  return { hits, isCut: false };
}

interface Record {
  path: string;
  line: number;
  offset: number;
  text: Buffer;
  rest: Buffer;
}

/** `path NUL line:offset:text LF`; undefined: incomplete. */
function cutRecord(bytes: Buffer): Record | undefined {
  const nul = bytes.indexOf(NUL);
  const end = nul === -1 ? -1 : bytes.indexOf(LF, nul);
  if (end === -1) return undefined;
  const first = bytes.indexOf(":", nul);
  const second = bytes.indexOf(":", first + 1);
  return {
    path: bytes.toString("utf8", 0, nul).replace(/^(\.\/)+/, ""),
    line: Number(bytes.toString("latin1", nul + 1, first)),
    offset: Number(bytes.toString("latin1", first + 1, second)),
    text: bytes.subarray(second + 1, end),
    rest: bytes.subarray(end + 1),
  };
}

function toFailure(errors: string): ToolError {
  if (/regex|pattern|look-around|PCRE2/i.test(errors)) {
    const advice = "escape special characters with a backslash to match them literally";
    return new ToolError("bad_pattern", `the pattern is not valid: ${errors.trim()}\n${advice}`);
  }
  return new ToolError("search_failed", `ripgrep failed: ${errors.trim()}`);
}

function toStartFailure(cause: unknown): ToolError {
  const isLost = readErrno(cause) === "ENOENT";
  const why = isLost ? "it or the working directory no longer exists" : toMessage(cause);
  return new ToolError("search_failed", `ripgrep could not be run: ${why}`);
}
