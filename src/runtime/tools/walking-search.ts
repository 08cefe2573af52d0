// Searches without ripgrep: our own walk with JavaScript's regular expressions. A malicious pattern can run forever, so
// they run in a thread that can be terminated.
import { Worker } from "node:worker_threads";
import { toMessage } from "../../base/coded-error.ts";
import type { OpenFile } from "../workspace/types.ts";
import { isSecret } from "./guard.ts";
import { formatLine } from "./hit-reader.ts";
import { type Hit, type Search, type SearchResult, SKIPPED_IN_SEARCH } from "./search.ts";
import { isBinary } from "./text.ts";
import { ToolError } from "./types.ts";

const BLOCK_BYTES = 256 * 1024;
/** Per block; the slowest reasonable patterns need a few milliseconds. */
const BLOCK_LIMIT_MS = 3000;
const LF = 0x0a;

/** Throws `bad_pattern`, `pattern_too_slow`. */
export async function searchByWalking(search: Search, blockLimitMs = BLOCK_LIMIT_MS): Promise<SearchResult> {
  const matcher = new LineMatcher(toRegExp(search.pattern), search.signal, blockLimitMs);
  const hits: Hit[] = [];
  try {
    for await (const path of walkFiles(search)) {
      if (!search.accepts(path)) continue;
      await searchFile(search, path, matcher, hits);
      if (hits.length > search.maxHits) break;
    }
    return { hits: hits.slice(0, search.maxHits), isCut: hits.length > search.maxHits };
  } finally {
    await matcher.close();
  }
}

async function* walkFiles({ workspace, start, signal }: Search): AsyncIterable<string> {
  if (!start.isDirectory) {
    yield start.real;
    return;
  }
  for await (const entry of workspace.walk(start.real, { skip: SKIPPED_IN_SEARCH, signal })) {
    if (!entry.isDirectory && !entry.isLink) yield entry.path;
  }
}

/** ripgrep's leading `(?i)` is a flag here. Unicode mode only where requested: it rejects `\-`. */
function toRegExp(pattern: string): RegExp {
  const [, flags = "", body = ""] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  const isUnicode = /\\[pP]\{|\\u\{/.test(body);
  try {
    return new RegExp(body, [...new Set(`${flags}${isUnicode ? "u" : ""}`)].join(""));
  } catch (cause) {
    const advice = "escape special characters with a backslash to match them literally";
    throw new ToolError("bad_pattern", `the pattern is not valid: ${toMessage(cause)}; ${advice}`);
  }
}

async function searchFile(search: Search, path: string, matcher: LineMatcher, hits: Hit[]): Promise<void> {
  // Files that are gone or unreadable have no hits.
  const file = await search.workspace.openFile(path).catch(() => undefined);
  if (file === undefined) return;
  try {
    if (file.located.real !== path || isSecret(file.located)) return;
    let line = 0;
    for await (const block of readBlocks(file, search.signal)) {
      const lines = splitLines(block.bytes);
      for (const index of await matcher.match(lines)) {
        hits.push({ path, line: line + index + 1, text: formatLine(lines[index] ?? Buffer.alloc(0)) });
        if (hits.length > search.maxHits) return;
      }
      line += block.lines;
    }
  } finally {
    await file.close();
  }
}

interface Block {
  bytes: Buffer;
  /** Line ends in the block, including those of text too long to keep. */
  lines: number;
}

/** Yields whole lines, but only the beginning of a line longer than a block. Stops at binary content. */
async function* readBlocks(file: OpenFile, signal: AbortSignal): AsyncIterable<Block> {
  let rest = Buffer.alloc(0);
  let isInLongLine = false;
  let position = 0;
  for (;;) {
    signal.throwIfAborted();
    const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
    const got = await file.read(buffer, position);
    if (got === 0) break;
    const bytes = buffer.subarray(0, got);
    if ((position === 0 && isBinary(bytes)) || bytes.includes(0)) return;
    position += got;
    const start = isInLongLine ? bytes.indexOf(LF) : 0;
    if (start === -1) continue;
    // Counts the end of a line whose beginning was already yielded.
    const fresh = Buffer.concat([rest, isInLongLine ? bytes.subarray(start) : bytes]);
    isInLongLine = false;
    const end = fresh.lastIndexOf(LF);
    if (end !== -1) {
      const whole = fresh.subarray(0, end + 1);
      yield { bytes: whole, lines: countLf(whole) };
    }
    rest = fresh.subarray(end + 1);
    if (rest.length > BLOCK_BYTES) {
      yield { bytes: rest, lines: 0 };
      rest = Buffer.alloc(0);
      isInLongLine = true;
    }
  }
  if (rest.length > 0) yield { bytes: rest, lines: 0 };
}

function countLf(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  if (from < bytes.length) lines.push(bytes.subarray(from));
  return lines;
}

const MATCH_LINES = `
const { parentPort, workerData } = require("node:worker_threads");
const wanted = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", (lines) => {
  const found = [];
  for (let index = 0; index < lines.length; index += 1) if (wanted.test(lines[index])) found.push(index);
  parentPort.postMessage(found);
});
`;

/** One request at a time. */
class LineMatcher {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #limitMs: number;

  constructor({ source, flags }: RegExp, signal: AbortSignal, limitMs: number) {
    this.#signal = signal;
    this.#limitMs = limitMs;
    this.#worker = new Worker(MATCH_LINES, {
      eval: true,
      workerData: { source, flags },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    // If it dies while idle, the next request notices.
    this.#worker.on("error", () => undefined);
  }

  /** The indexes of the matching lines. */
  match(lines: readonly Buffer[]): Promise<number[]> {
    const texts = lines.map((line) => line.toString("utf8").replace(/\r$/, ""));
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#worker.off("message", answer).off("error", fail);
        this.#signal.removeEventListener("abort", abort);
        act();
      };
      const answer = (found: number[]) => settle(() => resolve(found));
      const fail = (error: unknown) => settle(() => reject(error));
      const abort = () => settle(() => reject(this.#signal.reason));
      const timer = setTimeout(() => settle(() => reject(tooSlowError())), this.#limitMs);
      this.#worker.on("message", answer).on("error", fail);
      this.#signal.addEventListener("abort", abort, { once: true });
      if (this.#signal.aborted) abort();
      else this.#worker.postMessage(texts);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

function tooSlowError(): ToolError {
  return new ToolError(
    "pattern_too_slow",
    "the pattern takes too long; avoid nested repetition such as (a+)+",
  );
}
