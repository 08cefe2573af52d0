// Renders the handoff to a sub-agent: the fields given for its task, nothing of the conversation. Never longer than the
// limit: the task comes first, and the text says what was cut or omitted.
import { capText } from "../context/cut-text.ts";
import { toOneLine } from "../context/one-line.ts";
import type { HandoffContext, HandoffLimits } from "./types.ts";

export interface Handoff {
  text: string;
  /** Labels of the included parts. */
  receives: string[];
}

interface Part {
  heading: string;
  /** Label shown to the user for approval. */
  words: string;
  body: string;
  /** A list: cut between items, never within one. */
  isList?: boolean;
  isCut?: boolean;
}

const BYTES_PER_TOKEN = 4;
/** A shorter part would be useless: it is omitted. */
const LEAST_BYTES = 100;
const NAME_CHARS = 100;
const PATH_CHARS = 1000;

export function renderHandoff(context: HandoffContext, limits: HandoffLimits): Handoff {
  const head = renderHead(context);
  const parts = listParts(context, limits);
  const maxBytes = limits.maxHandoffTokens * BYTES_PER_TOKEN;
  const whole = render(head, parts);
  if (countBytes(whole) <= maxBytes) return toHandoff(whole, parts);
  const fitted = squeeze(head, parts, maxBytes);
  const text = render(head, fitted, parts);
  if (fitted.length > 0 && countBytes(text) <= maxBytes) return toHandoff(text, fitted);
  // No room for sections: as much of the task as fits.
  const [task] = parts;
  const bare = capText(task?.body ?? "", limits.maxHandoffTokens);
  return toHandoff(bare, task === undefined || bare === "" ? [] : [task]);
}

function renderHead({ childAgent, parentAgent }: HandoffContext): string {
  const [child, parent] = [childAgent, parentAgent].map((name) => toOneLine(name, NAME_CHARS));
  return `You are the agent ${child}. The agent ${parent} gives you this task.`;
}

/** The task first. */
function listParts({ delegation, currentUserRequest, cwd }: HandoffContext, limits: HandoffLimits): Part[] {
  const { task, expectedOutput, constraints, context, relevantFiles, contextRefs } = delegation;
  const parts: Part[] = [
    createTextPart("Task", "the task", task),
    createTextPart("Expected output", "expected output", expectedOutput),
    createListPart("Constraints", "constraints", constraints),
    createTextPart("Context", "context", context),
    createListPart("Relevant files", "relevant file paths", relevantFiles),
    createListPart("Context references", "context refs", contextRefs),
    createTextPart("What the user asked for, as background", "the current user request", currentUserRequest),
    createTextPart("Working directory", "the working directory", toOneLine(cwd, PATH_CHARS)),
  ];
  return parts
    .filter(({ body }) => body !== "")
    .map((part) =>
      part.heading === "Context" ? cutPart(part, limits.maxDelegateContextTokens * BYTES_PER_TOKEN) : part,
    );
}

function createTextPart(heading: string, words: string, body = ""): Part {
  return { heading, words, body: body.trim() };
}

function createListPart(heading: string, words: string, items: readonly string[] = []): Part {
  const lines = items.map((item) => item.trim()).filter((item) => item !== "");
  return {
    heading,
    words,
    body: lines.map((item) => `- ${item.replace(/\n/g, "\n  ")}`).join("\n"),
    isList: true,
  };
}

/** The task takes what it needs; the others share the rest, short ones first. The order is kept. */
function squeeze(head: string, parts: readonly Part[], maxBytes: number): Part[] {
  const [task, ...others] = parts;
  if (task === undefined) return [];
  let room = maxBytes - countBytes(head) - countBytes(renderLongestNote(parts));
  const taken = new Map<Part, Part>();
  const take = (part: Part, mostBytes: number): void => {
    const frame = countBytes(renderSection({ ...part, body: "" }));
    const short = cutPart(part, mostBytes - frame);
    if (short.isCut === true && mostBytes - frame < LEAST_BYTES) return;
    taken.set(part, short);
    room -= frame + countBytes(short.body);
  };
  take(task, room);
  const shortFirst = others.toSorted((a, b) => countBytes(a.body) - countBytes(b.body));
  for (const [index, part] of shortFirst.entries()) {
    take(part, Math.floor(room / (shortFirst.length - index)));
  }
  return parts.flatMap((part) => taken.get(part) ?? []);
}

function cutPart(part: Part, maxBytes: number): Part {
  if (countBytes(part.body) <= maxBytes) return part;
  const body = part.isList === true ? cutList(part.body, maxBytes) : undefined;
  return { ...part, body: body ?? capText(part.body, Math.floor(maxBytes / BYTES_PER_TOKEN)), isCut: true };
}

/** Undefined: not even one item fits. */
function cutList(body: string, maxBytes: number): string | undefined {
  const items = body.split(/\n(?=- )/);
  const mark = (missing: number) => `\n[… ${missing} more omitted to save space …]`;
  for (let count = items.length - 1; count > 0; count -= 1) {
    const short = items.slice(0, count).join("\n") + mark(items.length - count);
    if (countBytes(short) <= maxBytes) return short;
  }
  return undefined;
}

function render(head: string, parts: readonly Part[], all: readonly Part[] = parts): string {
  return [head, ...parts.map(renderSection), renderNote(parts, all)].join("");
}

function renderSection({ heading, body }: Part): string {
  return `\n\n## ${heading}\n${body}`;
}

/** Empty if nothing was cut or omitted. */
function renderNote(parts: readonly Part[], all: readonly Part[]): string {
  const headings = (some: readonly Part[]) => some.map(({ heading }) => heading).join(", ");
  const short = headings(parts.filter(({ isCut }) => isCut === true));
  const lost = headings(all.filter(({ heading }) => !parts.some((part) => part.heading === heading)));
  if (short === "" && lost === "") return "";
  const words = [...(short === "" ? [] : [`cut: ${short}`]), ...(lost === "" ? [] : [`omitted: ${lost}`])];
  return `\n\n[This handoff was too long, so parts of it were ${words.join("; ")}. Mention in your report what you missed.]`;
}

function renderLongestNote(parts: readonly Part[]): string {
  const cutAll = parts.map((part) => ({ ...part, isCut: true }));
  return `${renderNote(cutAll, parts)}; omitted: `;
}

function toHandoff(whole: string, parts: readonly Part[]): Handoff {
  return { text: whole, receives: parts.map(({ words }) => words) };
}

function countBytes(body: string): number {
  return Buffer.byteLength(body);
}
