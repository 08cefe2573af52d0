// Decodes terminal input into keys. Pure. Incomplete sequences are kept for the next chunk, so that chunking does not
// matter. Only time tells a lone ESC from the start of a sequence: the caller passes `isEnd` after a pause
// (reader.ts).
import type { Input } from "../screen-types.ts";
import { codeToChord, controlToChord, letterToChord, numberToChord, withModifiers } from "./chords.ts";

/** `reply`: the terminal's answer to a query. */
export type Decoded = Input | { kind: "reply"; text: string };

export interface Decoding {
  /** An incomplete sequence. */
  rest: string;
  /** The paste so far, while one is open. */
  paste?: string;
}

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** A longer sequence is not a reply. */
const MAX_REPLY = 4096;

export function decode(
  before: Decoding,
  text: string,
  isEnd = false,
): { decoding: Decoding; inputs: Decoded[] } {
  const inputs: Decoded[] = [];
  let { rest: buffer, paste } = before;
  buffer += text;
  for (;;) {
    if (paste !== undefined) {
      const from = Math.max(0, paste.length - PASTE_END.length);
      const whole: string = paste + buffer;
      const end = whole.indexOf(PASTE_END, from);
      if (end < 0) return { decoding: { rest: "", paste: whole }, inputs };
      inputs.push({ kind: "paste", text: whole.slice(0, end).replace(/\r\n?/g, "\n") });
      buffer = whole.slice(end + PASTE_END.length);
      paste = undefined;
    }
    const taken = takeKeys(buffer, isEnd, inputs);
    buffer = taken.rest;
    if (!taken.isPaste) return { decoding: { rest: buffer }, inputs };
    paste = "";
  }
}

function takeKeys(buffer: string, isEnd: boolean, inputs: Decoded[]): { rest: string; isPaste: boolean } {
  let at = 0;
  while (at < buffer.length) {
    const found = nextKey(buffer, at, isEnd);
    if (found === undefined) break;
    at += found.length;
    if (found.isPaste) return { rest: buffer.slice(at), isPaste: true };
    if (found.input !== undefined) inputs.push(found.input);
  }
  return { rest: buffer.slice(at), isPaste: false };
}

interface Found {
  length: number;
  /** Absent if the sequence is ignored. */
  input?: Decoded;
  isPaste?: true;
}

/** Returns undefined if the sequence is incomplete. */
function nextKey(buffer: string, at: number, isEnd: boolean): Found | undefined {
  const character = String.fromCodePoint(buffer.codePointAt(at) ?? 0);
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x1b) return decodeEscape(buffer, at, isEnd);
  if (code < 0x20 || code === 0x7f) return makeKey(1, controlToChord(code));
  if (code >= 0x80 && code < 0xa0) return { length: 1 };
  return { length: character.length, input: { kind: "text", text: character } };
}

function decodeEscape(buffer: string, at: number, isEnd: boolean): Found | undefined {
  const next = buffer[at + 1];
  if (next === undefined) return isEnd ? makeKey(1, "escape") : undefined;
  if (next === "[") return controlSequence(buffer, at, isEnd);
  if (next === "O") return singleShift(buffer, at, isEnd);
  if (next === "]" || next === "P" || next === "_" || next === "^") return reply(buffer, at, isEnd);
  if (next === "\x1b") return twiceEscaped(buffer, at, isEnd);
  const code = buffer.codePointAt(at + 1) ?? 0;
  if (code < 0x20 || code === 0x7f)
    return makeKey(2, withAlt(code === 0x0a ? "enter" : controlToChord(code)));
  const character = String.fromCodePoint(code);
  return makeKey(1 + character.length, letterToChord(character, { alt: true }));
}

/** ESC before a sequence means Alt on some terminals; otherwise it is a key. */
function twiceEscaped(buffer: string, at: number, isEnd: boolean): Found | undefined {
  const third = buffer[at + 2];
  if (third === undefined) return isEnd ? makeKey(1, "escape") : undefined;
  if (third !== "[" && third !== "O") return makeKey(1, "escape");
  const inner = decodeEscape(buffer, at + 1, isEnd);
  if (inner === undefined) return undefined;
  if (inner.isPaste || inner.input?.kind !== "key") return makeKey(1, "escape");
  return makeKey(1 + inner.length, withAlt(inner.input.chord));
}

function controlSequence(buffer: string, at: number, isEnd: boolean): Found | undefined {
  if (buffer.startsWith(PASTE_START, at)) return { length: PASTE_START.length, isPaste: true };
  const match = /^\[(?:\[([A-E])|([0-?]*)([ -/]*)([@-Z\\^-~]))/.exec(buffer.slice(at + 1, at + 64));
  if (match === null) {
    const isOpen = /^\[\[?$|^\[[0-?]*[ -/]*$/.test(buffer.slice(at + 1, at + 64));
    if (isOpen && buffer.length - at < 64 && !isEnd) return undefined;
    return makeKey(2, "alt-[");
  }
  const [whole, console_ = "", parameters = "", between = "", final = ""] = match;
  const length = 1 + whole.length;
  if (console_ !== "") return makeKey(length, `f${console_.charCodeAt(0) - 0x40}`);
  const isFocus = parameters === "" && (final === "I" || final === "O");
  if (isFocus || /^[?>=]/.test(parameters)) {
    return { length, input: { kind: "reply", text: buffer.slice(at, at + length) } };
  }
  if (parameters.startsWith("<")) return mouse(length, parameters);
  if (between !== "") return { length };
  const input = sequenceKey(parameters, final);
  return input === undefined ? { length } : { length, input };
}

/** Mouse: `CSI < button ; column ; row M`. Only the wheel is used. */
function mouse(length: number, parameters: string): Found {
  const button = Number(parameters.slice(1).split(";")[0]);
  if (button === 64) return makeKey(length, "wheelup");
  return button === 65 ? makeKey(length, "wheeldown") : { length };
}

function sequenceKey(parameters: string, final: string): Input | undefined {
  const [first = "", second = "", third = ""] = parameters.split(";");
  const modifiers = Number(second.split(":")[0] || 1);
  if (final === "u") return codeToChord(Number(first.split(":")[0]), modifiers);
  if (final === "~" && first === "27") return codeToChord(Number(third), modifiers);
  const name = final === "~" ? numberToChord(Number(first)) : LETTERS[final];
  if (name === undefined) return undefined;
  const chord = withModifiers(name, modifiers);
  return chord === undefined ? undefined : { kind: "key", chord };
}

function singleShift(buffer: string, at: number, isEnd: boolean): Found | undefined {
  const letter = buffer[at + 2];
  if (letter === undefined) return isEnd ? makeKey(2, "alt-shift-o") : undefined;
  const name = letter === "M" ? "enter" : LETTERS[letter];
  return name === undefined ? makeKey(2, "alt-shift-o") : makeKey(3, name);
}

/** OSC, DCS, APC and PM replies; a key if nothing follows. */
function reply(buffer: string, at: number, isEnd: boolean): Found | undefined {
  const text = buffer.slice(at + 2, at + 2 + MAX_REPLY);
  const ends = ["\x07", "\x1b\\"].flatMap((mark) => {
    const found = text.indexOf(mark);
    return found < 0 ? [] : [found + mark.length];
  });
  if (ends.length > 0) {
    const length = 2 + Math.min(...ends);
    return { length, input: { kind: "reply", text: buffer.slice(at, at + length) } };
  }
  if (!isEnd && buffer.length - at < MAX_REPLY) return undefined;
  return makeKey(2, letterToChord(buffer[at + 1] ?? "", { alt: true }));
}

const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "shift-tab",
};

function makeKey(length: number, chord: string): Found {
  return { length, input: { kind: "key", chord } };
}

function withAlt(chord: string): string {
  return chord.startsWith("ctrl-") ? chord.replace("ctrl-", "ctrl-alt-") : `alt-${chord}`;
}
