// How `demian trust` shows a file: state, size and content, made safe for a terminal.
import { reveal } from "../../base/sanitize.ts";
import type { Trustable } from "../../runtime/config/trustable.ts";
import { drawBarLines } from "../bar.ts";

const MAX_LINES = 60;
/** More would push the text above the prompt off the screen. */
const MAX_CHARACTERS = 6000;
const STATES: Readonly<Record<Trustable["state"], string>> = {
  trusted: "trusted",
  refused: "refused",
  changed: "changed since",
  unknown: "not trusted",
  gone: "gone",
};
/** What trusting it allows. */
const MEANING: Readonly<Record<Trustable["kind"], string>> = {
  config:
    "If trusted, its hooks run as programs with your permissions, and its agents may read files without asking and use any of your providers.",
  agent: "If trusted, it may read files without asking and use any of your providers.",
  command: "If trusted, /NAME sends its text as a message of yours. It cannot change permissions.",
  instructions:
    "The model gets them unless you refuse them. They cannot change permissions. If trusted, demian no longer mentions them.",
  skill: "If trusted, the model can load it. It tells the model what to do; it cannot change permissions.",
  tool: "If trusted, its code is loaded into demian and runs with your full permissions, outside the sandbox.",
};

export function formatState({ state, isTrustedByConfig }: Trustable): string {
  if (isTrustedByConfig && state !== "trusted" && state !== "refused") return "trusted (trust.userTools)";
  return STATES[state];
}

export function formatSize(bytes: Buffer | undefined): string {
  if (bytes === undefined) return "gone";
  return bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`;
}

export function formatDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace("T", " ");
}

/** The start of the file; the rest is counted. No line of it can pass for demian's own text. */
export function formatContent({ kind, bytes }: Trustable, columns: number): string[] {
  const text = (bytes ?? Buffer.alloc(0)).toString("utf8").replace(/\n$/, "");
  const lines = text.split("\n");
  const shown = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  return [
    ...drawBarLines(reveal(shown), columns),
    ...(shown === text ? [] : [`  … ${countHidden(text, shown, lines)}: open the file before you trust it`]),
    `  ${MEANING[kind]}`,
  ];
}

function countHidden(text: string, shown: string, lines: readonly string[]): string {
  const left = text.length - shown.length;
  if (shown.length === MAX_CHARACTERS) return `${left} more characters`;
  return `${lines.length - MAX_LINES} more lines`;
}
