// What a sub-agent is told of its task: the fields that were given for it, and nothing of the conversation (§7). Never
// longer than allowed: the task comes first, and where something is cut or left out the text says so.
import { capText } from "../context/cut-text.ts";
import { oneLine } from "../context/one-line.ts";
import type { HandoffContext, HandoffLimits } from "./types.ts";

export interface Handoff {
  text: string;
  /** In words, exactly what is in it. */
  receives: string[];
}

interface Part {
  heading: string;
  /** For the person who is asked. */
  words: string;
  body: string;
  /** Its lines are cut between items, never within one. */
  isList?: boolean;
  isCut?: boolean;
}

const BYTES_PER_TOKEN = 4;
/** Below that a part says nothing: it is left out. */
const LEAST_BYTES = 100;
const NAME_CHARS = 100;
const PATH_CHARS = 1000;

export function renderHandoff(context: HandoffContext, limits: HandoffLimits): Handoff {
  const head = headOf(context);
  const parts = partsOf(context, limits);
  const maxBytes = limits.maxHandoffTokens * BYTES_PER_TOKEN;
  const whole = render(head, parts);
  if (size(whole) <= maxBytes) return handoff(whole, parts);
  const fitted = squeeze(head, parts, maxBytes);
  const text = render(head, fitted, parts);
  if (fitted.length > 0 && size(text) <= maxBytes) return handoff(text, fitted);
  // No room for any form: as much of the task as there is.
  const [task] = parts;
  const bare = capText(task?.body ?? "", limits.maxHandoffTokens);
  return handoff(bare, task === undefined || bare === "" ? [] : [task]);
}

function headOf({ childAgent, parentAgent }: HandoffContext): string {
  const [child, parent] = [childAgent, parentAgent].map((name) => oneLine(name, NAME_CHARS));
  return `You are the agent ${child}. The agent ${parent} hands this task over to you.`;
}

/** The task first. */
function partsOf({ delegation, currentUserRequest, cwd }: HandoffContext, limits: HandoffLimits): Part[] {
  const { task, expectedOutput, constraints, context, relevantFiles, contextRefs } = delegation;
  const parts: Part[] = [
    text("Task", "the task", task),
    text("Expected output", "expected output", expectedOutput),
    list("Constraints", "constraints", constraints),
    text("Context", "context", context),
    list("Relevant files", "relevant file paths", relevantFiles),
    list("Context references", "context refs", contextRefs),
    text("What the user asked for, as background", "the current user request", currentUserRequest),
    text("Working directory", "the working directory", oneLine(cwd, PATH_CHARS)),
  ];
  return parts
    .filter(({ body }) => body !== "")
    .map((part) =>
      part.heading === "Context" ? cut(part, limits.maxDelegateContextTokens * BYTES_PER_TOKEN) : part,
    );
}

function text(heading: string, words: string, body = ""): Part {
  return { heading, words, body: body.trim() };
}

function list(heading: string, words: string, items: readonly string[] = []): Part {
  const lines = items.map((item) => item.trim()).filter((item) => item !== "");
  return {
    heading,
    words,
    body: lines.map((item) => `- ${item.replace(/\n/g, "\n  ")}`).join("\n"),
    isList: true,
  };
}

/** The task takes what it needs; the others share the rest, the short ones whole. In the same order. */
function squeeze(head: string, parts: readonly Part[], maxBytes: number): Part[] {
  const [task, ...others] = parts;
  if (task === undefined) return [];
  let room = maxBytes - size(head) - size(longestNote(parts));
  const taken = new Map<Part, Part>();
  const take = (part: Part, mostBytes: number): void => {
    const frame = size(section({ ...part, body: "" }));
    const short = cut(part, mostBytes - frame);
    if (short.isCut === true && mostBytes - frame < LEAST_BYTES) return;
    taken.set(part, short);
    room -= frame + size(short.body);
  };
  take(task, room);
  const shortFirst = others.toSorted((a, b) => size(a.body) - size(b.body));
  for (const [index, part] of shortFirst.entries()) {
    take(part, Math.floor(room / (shortFirst.length - index)));
  }
  return parts.flatMap((part) => taken.get(part) ?? []);
}

function cut(part: Part, maxBytes: number): Part {
  if (size(part.body) <= maxBytes) return part;
  const body = part.isList === true ? cutList(part.body, maxBytes) : undefined;
  return { ...part, body: body ?? capText(part.body, Math.floor(maxBytes / BYTES_PER_TOKEN)), isCut: true };
}

/** Undefined: not even one item has room. */
function cutList(body: string, maxBytes: number): string | undefined {
  const items = body.split(/\n(?=- )/);
  const mark = (missing: number) => `\n[… ${missing} more left out to save space …]`;
  for (let count = items.length - 1; count > 0; count -= 1) {
    const short = items.slice(0, count).join("\n") + mark(items.length - count);
    if (size(short) <= maxBytes) return short;
  }
  return undefined;
}

function render(head: string, parts: readonly Part[], all: readonly Part[] = parts): string {
  return [head, ...parts.map(section), noteOf(parts, all)].join("");
}

function section({ heading, body }: Part): string {
  return `\n\n## ${heading}\n${body}`;
}

/** Empty when everything is in it as it was given. */
function noteOf(parts: readonly Part[], all: readonly Part[]): string {
  const headings = (some: readonly Part[]) => some.map(({ heading }) => heading).join(", ");
  const short = headings(parts.filter(({ isCut }) => isCut === true));
  const lost = headings(all.filter(({ heading }) => !parts.some((part) => part.heading === heading)));
  if (short === "" && lost === "") return "";
  const words = [...(short === "" ? [] : [`cut: ${short}`]), ...(lost === "" ? [] : [`left out: ${lost}`])];
  return `\n\n[This handoff was too long, so parts of it were ${words.join("; ")}. Say in your report what you missed.]`;
}

function longestNote(parts: readonly Part[]): string {
  const cutAll = parts.map((part) => ({ ...part, isCut: true }));
  return `${noteOf(cutAll, parts)}; left out: `;
}

function handoff(whole: string, parts: readonly Part[]): Handoff {
  return { text: whole, receives: parts.map(({ words }) => words) };
}

function size(body: string): number {
  return Buffer.byteLength(body);
}
