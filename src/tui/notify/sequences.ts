// Escape sequences for titles and desktop notifications. They contain untrusted text, so nothing that could end a sequence
// or start another gets in.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Desktop, TerminalTraits } from "./terminal.ts";

const ESC = "\u001b";
/** String terminator. */
const ST = `${ESC}\\`;
export const BELL = "\u0007";
/** Save and restore the title; ignored by terminals without support. */
export const PUSH_TITLE = `${ESC}[22;2t`;
export const POP_TITLE = `${ESC}[23;2t`;
export const FOCUS_ON = `${ESC}[?1004h`;
export const FOCUS_OFF = `${ESC}[?1004l`;

const MAX_TITLE = 80;
const MAX_MESSAGE = 200;
const PROGRAM = "blemees";

export function makeTitleSequence(text: string): string {
  return `${ESC}]2;${safe(text, MAX_TITLE)}${ST}`;
}

export function makeMessageSequence(text: string, { desktop, passThrough }: TerminalTraits): string {
  if (desktop === undefined) return "";
  const plain = MESSAGES[desktop](safe(text, MAX_MESSAGE));
  return passThrough === "tmux" ? `${ESC}Ptmux;${plain.replaceAll(ESC, ESC + ESC)}${ST}` : plain;
}

const MESSAGES: Record<Desktop, (text: string) => string> = {
  // A leading number and semicolon would be a ConEmu command, hence the program name.
  osc9: (text) => `${ESC}]9;${PROGRAM}: ${text}${ST}`,
  // Semicolons separate its fields.
  osc777: (text) => `${ESC}]777;notify;${PROGRAM};${text.replaceAll(";", ",")}${ST}`,
  osc99: (text) =>
    `${ESC}]99;i=${PROGRAM}:d=0:e=1:p=title;${base64(PROGRAM)}${ST}` +
    `${ESC}]99;i=${PROGRAM}:e=1:p=body;${base64(text)}${ST}`,
};

function safe(text: string, most: number): string {
  const line = sanitizeLine(text.slice(0, most * 4))
    .replace(/\p{Surrogate}/gu, "?")
    .trim();
  const characters = [...line];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : line;
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
