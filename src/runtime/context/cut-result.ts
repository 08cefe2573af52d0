// Shortens a tool result and tells the model how to get the rest: the next offset of a file, or the file with the full
// output.
import type { ToolCall } from "../messages.ts";
import { cutText } from "./cut-text.ts";
import { estimateText } from "./estimate.ts";

export interface ResultCut {
  /** The call that produced it. */
  call: ToolCall | undefined;
  maxTokens: number;
  /** The model has not read it yet: a page of the same length will fit. */
  isNewest: boolean;
}

const BYTES_PER_TOKEN = 4;
/** With less room, a hint would displace the content. */
const MIN_HINT_TOKENS = 100;
/** The page limit of read_file. */
const MAX_LINES = 2000;
const NUMBERED_LINE = /^ *(\d+)\t/;
/** Written by tools/output.ts. */
const KEPT_OUTPUT = /the full output is in (\S+?)(?= …\]|$)/m;

export function cutResult(content: string, { call, maxTokens, isNewest }: ResultCut): string {
  if (estimateText(content) <= maxTokens) return content;
  if (maxTokens < MIN_HINT_TOKENS) return cutText(content, maxTokens);
  const page = call?.name === "read_file" ? cutPage(content, maxTokens, isNewest) : undefined;
  return page ?? cutText(content, maxTokens, hintFor(content));
}

function hintFor(content: string): string {
  const kept = KEPT_OUTPUT.exec(content)?.[1];
  return kept === undefined
    ? "request less at a time to see the rest"
    : `the full output is in ${kept}: use read_file with offset and limit`;
}

/** The first lines of a read_file page, and where to continue. Undefined: no line fits. */
function cutPage(content: string, maxTokens: number, isNewest: boolean): string | undefined {
  const lines = content.split("\n");
  let room = maxTokens * BYTES_PER_TOKEN - Buffer.byteLength(pageMark(9_999_999, 9_999_999, MAX_LINES));
  let count = 0;
  for (const line of lines) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0 || !NUMBERED_LINE.test(line)) break;
    count += 1;
  }
  const [first, last] = [lines[0], lines[count - 1]].map((line) => NUMBERED_LINE.exec(line ?? "")?.[1]);
  if (first === undefined || last === undefined) return undefined;
  const limit = isNewest ? Math.min(count, MAX_LINES) : undefined;
  return lines.slice(0, count).join("\n") + pageMark(Number(first), Number(last), limit);
}

function pageMark(first: number, last: number, limit: number | undefined): string {
  const page = `offset=${last + 1}${limit === undefined ? "" : ` limit=${limit}`}`;
  return `\n\n[cut here to save space: lines ${first}-${last}; continue with ${page}]`;
}
