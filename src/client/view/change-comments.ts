// Comments on changed lines: collected by a screen, then sent to the agent as one message.
import type { ChangeLine } from "./change-rows.ts";

/** The lines a comment is about. Numbers of the version before (`old`) only if all lines were deleted. */
export interface CommentPlace {
  path: string;
  side: "old" | "new";
  from: number;
  to: number;
  /** The lines as shown, each after "+", "-" or a space. */
  quote: readonly string[];
}

export interface ChangeComment extends CommentPlace {
  id: number;
  text: string;
}

const SIGNS = { context: " ", add: "+", delete: "-" } as const;
const MAX_QUOTED = 8;
const MAX_QUOTED_LENGTH = 200;

/** Undefined without lines. */
export function toCommentPlace(path: string, lines: readonly ChangeLine[]): CommentPlace | undefined {
  const side = lines.some((line) => line.new !== undefined) ? "new" : "old";
  const numbers = lines.flatMap((line) => line[side] ?? []);
  const [from, to] = [numbers[0], numbers.at(-1)];
  if (from === undefined || to === undefined) return undefined;
  return { path, side, from, to, quote: lines.map(({ kind, text }) => SIGNS[kind] + text) };
}

/** Whether the comment is shown below this line. */
export function isCommentEnd({ side, to }: CommentPlace, line: ChangeLine): boolean {
  return line[side] === to && (side === "new" || line.kind === "delete");
}

/** Adds a comment, or replaces the one with the same id. An empty text removes it. */
export function putComment(
  comments: readonly ChangeComment[],
  comment: ChangeComment,
): readonly ChangeComment[] {
  const text = comment.text.trim();
  const put = { ...comment, text };
  if (text === "") return removeComments(comments, [comment]);
  if (comments.some(({ id }) => id === comment.id))
    return comments.map((one) => (one.id === comment.id ? put : one));
  return [...comments, put];
}

/** Those that were sent or deleted, but not what was written since. */
export function removeComments(
  comments: readonly ChangeComment[],
  removed: readonly ChangeComment[],
): readonly ChangeComment[] {
  return comments.filter(
    (one) => !removed.some(({ id, text }) => id === one.id && (text === one.text || text.trim() === "")),
  );
}

/** The next free id. */
export function makeCommentId(comments: readonly ChangeComment[]): number {
  return comments.reduce((highest, { id }) => Math.max(highest, id), 0) + 1;
}

/** "src/a.ts, lines 3-5 (before the change)". */
export function describePlace({ path, side, from, to }: CommentPlace): string {
  const lines = from === to ? `line ${from}` : `lines ${from}-${to}`;
  return `${toOneLine(path)}, ${lines}${side === "old" ? " (before the change)" : ""}`;
}

/** The message for the agent, by file and line. */
export function formatComments(comments: readonly ChangeComment[]): string {
  const sorted = [...comments].sort(compareComments);
  const blocks = sorted.map((comment, at) => {
    const number = sorted.length === 1 ? "" : `${at + 1}. `;
    const quote = quoteLines(comment.quote).map((line) => `> ${line}`);
    return [`${number}${describePlace(comment)}`, ...quote, comment.text].join("\n");
  });
  const title = sorted.length === 1 ? "A comment" : `${sorted.length} comments`;
  return [`${title} on your changes:`, ...blocks].join("\n\n");
}

/** Comments kept as JSON. Anything else counts as none. */
export function parseComments(json: string | null): readonly ChangeComment[] {
  try {
    const kept: unknown = JSON.parse(json ?? "[]");
    return Array.isArray(kept) ? kept.filter(isComment) : [];
  } catch {
    // Not ours.
    return [];
  }
}

function isComment(value: unknown): value is ChangeComment {
  const { id, path, side, from, to, quote, text } = (value ?? {}) as Partial<Record<string, unknown>>;
  return (
    [id, from, to].every((number) => typeof number === "number") &&
    [path, text].every((part) => typeof part === "string") &&
    (side === "old" || side === "new") &&
    Array.isArray(quote) &&
    quote.every((line) => typeof line === "string")
  );
}

function compareComments(a: ChangeComment, b: ChangeComment): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.from - b.from || a.to - b.to || a.id - b.id;
}

/** The first and last lines of a long quote. */
function quoteLines(quote: readonly string[]): string[] {
  const lines = quote.map((line) =>
    line.length > MAX_QUOTED_LENGTH ? `${toOneLine(line).slice(0, MAX_QUOTED_LENGTH)}…` : toOneLine(line),
  );
  if (lines.length <= MAX_QUOTED) return lines;
  const half = MAX_QUOTED / 2;
  const left = lines.length - 2 * half;
  return [
    ...lines.slice(0, half),
    `… ${left} more ${left === 1 ? "line" : "lines"} …`,
    ...lines.slice(-half),
  ];
}

/** A name or line that contains a line break must not look like more of the message. */
function toOneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]/g, " ");
}
