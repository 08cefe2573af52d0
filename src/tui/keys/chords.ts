// Chord names for terminal key codes, xterm's modifyOtherKeys and the kitty keyboard protocol.
import type { Input } from "../screen-types.ts";

const CONTROLS: Readonly<Record<number, string>> = {
  0: "ctrl-space",
  9: "tab",
  13: "enter",
  28: "ctrl-\\",
  29: "ctrl-]",
  30: "ctrl-^",
  31: "ctrl-_",
  127: "backspace",
};

export function controlToChord(code: number): string {
  return CONTROLS[code] ?? `ctrl-${String.fromCharCode(code + 0x60)}`;
}

/** `alt-b` for a lowercase letter, `alt-shift-b` for an uppercase one. */
export function letterToChord(letter: string, held: { ctrl?: boolean; alt?: boolean }): string {
  if (letter === " ") return prefix({ ...held }, "space");
  const small = letter.toLowerCase();
  return prefix({ ...held, shift: small !== letter }, small);
}

const NUMBERS: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

/** The key of `CSI n ~`. */
export function numberToChord(number: number): string | undefined {
  return NUMBERS[number];
}

/** Keypad codes of the kitty protocol. */
const KEYPAD: Readonly<Record<number, string>> = {
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57426: "delete",
};
const NAMED: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
};
const KEYPAD_CHARACTERS = "0123456789./*-+";

/** A character's code with modifiers: `CSI code;modifiers u`. */
export function codeToChord(code: number, modifiers: number): Input | undefined {
  const name = NAMED[code] ?? KEYPAD[code];
  if (name !== undefined) {
    const chord = withModifiers(name, modifiers);
    return chord === undefined ? undefined : { kind: "key", chord };
  }
  const character = findCharacter(code);
  if (character === undefined) return undefined;
  const held = readHeld(modifiers);
  if (held === undefined) return undefined;
  if (held.ctrl || held.alt) {
    return { kind: "key", chord: prefix(held, character === " " ? "space" : character.toLowerCase()) };
  }
  return { kind: "text", text: held.shift ? character.toUpperCase() : character };
}

/** Returns undefined for modifiers that belong to the window system. */
export function withModifiers(name: string, modifiers: number): string | undefined {
  const held = readHeld(modifiers);
  if (held === undefined) return undefined;
  const [, shifted] = /^shift-(.+)$/.exec(name) ?? [];
  return shifted === undefined ? prefix(held, name) : prefix({ ...held, shift: true }, shifted);
}

interface Held {
  ctrl?: boolean;
  alt?: boolean;
  shift?: boolean;
}

function readHeld(modifiers: number): Held | undefined {
  const bits = Math.max(0, modifiers - 1);
  if ((bits & 0b111000) !== 0) return undefined;
  return { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
}

function prefix({ ctrl, alt, shift }: Held, name: string): string {
  return `${ctrl ? "ctrl-" : ""}${alt ? "alt-" : ""}${shift ? "shift-" : ""}${name}`;
}

function findCharacter(code: number): string | undefined {
  if (code >= 57399 && code < 57399 + KEYPAD_CHARACTERS.length) return KEYPAD_CHARACTERS[code - 57399];
  if (!Number.isInteger(code) || code < 0x20 || code > 0x10ffff) return undefined;
  if (code >= 0xd800 && code < 0xe000) return undefined;
  if (code >= 57344 && code < 63744) return undefined; // functional keys of the kitty protocol: volume, media
  return String.fromCodePoint(code);
}
