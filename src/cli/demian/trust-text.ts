// What `demian trust` says about a file: its state, its size, and what stands in it, made safe for a terminal.
import { reveal } from "../../base/sanitize.ts";
import type { Trustable } from "../../runtime/config/trustable.ts";
import { behindBar } from "../bar.ts";

const MAX_LINES = 60;
/** Lines may be long: more would push what stands above the question off the screen. */
const MAX_CHARACTERS = 6000;
const STATES: Readonly<Record<Trustable["state"], string>> = {
  trusted: "trusted",
  refused: "refused",
  changed: "changed since",
  unknown: "not trusted",
  gone: "gone",
};
/** What trust in it means. */
const MEANING: Readonly<Record<Trustable["kind"], string>> = {
  config:
    "Trusted, its hooks run as programs with your rights, and its agents may read without asking and choose among your providers.",
  agent: "Trusted, it may read files without asking and choose among your providers.",
  tool: "Trusted, its code is loaded into demian and runs with all of your rights, outside of the sandbox.",
};

export function stateText({ state, isTrustedByConfig }: Trustable): string {
  if (isTrustedByConfig && state !== "trusted" && state !== "refused") return "trusted (trust.userTools)";
  return STATES[state];
}

export function sizeOf(bytes: Buffer | undefined): string {
  if (bytes === undefined) return "gone";
  return bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`;
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace("T", " ");
}

/** As much as a person looks at; the rest is counted. Nothing in it can pass for our own words. */
export function contentLines({ kind, bytes }: Trustable, columns: number): string[] {
  const text = (bytes ?? Buffer.alloc(0)).toString("utf8").replace(/\n$/, "");
  const lines = text.split("\n");
  const shown = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  return [
    ...behindBar(reveal(shown), columns),
    ...(shown === text ? [] : [`  … ${leftText(text, shown, lines)}: open the file before you trust it`]),
    `  ${MEANING[kind]}`,
  ];
}

function leftText(text: string, shown: string, lines: readonly string[]): string {
  const left = text.length - shown.length;
  if (shown.length === MAX_CHARACTERS) return `${left} more characters`;
  return `${lines.length - MAX_LINES} more lines`;
}
