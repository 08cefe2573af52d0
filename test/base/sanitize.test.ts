import { expect, test } from "vitest";
import { reveal, revealLine, sanitize, sanitizeJson, sanitizeLine } from "../../src/base/sanitize.ts";

const CORPUS: [name: string, attack: string, shown: string][] = [
  ["colour", "\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"],
  ["clear screen and home", "\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H"],
  ["window title by OSC, ended by BEL", "\x1b]0;owned\x07", "\\x1b]0;owned\\x07"],
  ["hyperlink by OSC 8, ended by ST", "\x1b]8;;http://evil\x1b\\ok", "\\x1b]8;;http://evil\\x1b\\ok"],
  ["clipboard by OSC 52", "\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"],
  ["DCS", "\x1bPq#0\x1b\\", "\\x1bPq#0\\x1b\\"],
  ["8-bit CSI", "\x9b31mred", "\\x9b31mred"],
  ["8-bit OSC", "\x9d0;t\x9c", "\\x9d0;t\\x9c"],
  ["carriage return over a line", "rm -rf /\rls       ", "rm -rf /\\x0dls       "],
  ["backspaces", "evil\b\b\b\bgood", "evil\\x08\\x08\\x08\\x08good"],
  ["NUL, BEL, DEL", "\0\x07\x7f", "\\x00\\x07\\x7f"],
  ["vertical tab and form feed", "\v\f", "\\x0b\\x0c"],
  ["right-to-left override", "user\u202etxt.exe", "user<U+202E>txt.exe"],
  ["isolates", "\u2066a\u2069", "<U+2066>a<U+2069>"],
  ["marks", "\u200e\u200f\u061c", "<U+200E><U+200F><U+061C>"],
  ["zero width", "a\u200bb\u200cc\u200dd\ufeff", "a<U+200B>b<U+200C>c<U+200D>d<U+FEFF>"],
  ["soft hyphen, word joiner", "a\u00adb\u2060", "a<U+00AD>b<U+2060>"],
  ["tag characters", "\u{e0041}\u{e007f}", "<U+E0041><U+E007F>"],
  ["line and paragraph separator", "\u2028\u2029", "<U+2028><U+2029>"],
];

test.each(CORPUS)("%s is shown, not obeyed", (_name, attack, shown) => {
  expect(sanitize(attack)).toBe(shown);
});

test.each(CORPUS)("%s is also shown in approvals", (_name, attack, shown) => {
  expect(reveal(attack)).toBe(shown);
});

test.each([
  ["odd blanks", "\u00a0\u1680\u2000\u2009\u200a\u202f\u205f\u3000"],
  ["blanks that are letters", "\u2800\u3164\uffa0\u115f\u1160"],
  ["variation selectors", "\ufe00\ufe0f\u180b\u{e0100}"],
  ["everything a font may leave out", "\u034f\u17b4\u180e\u2064\u{1d173}\u{e0fff}"],
  ["what has no shape", "\ue000\u0378\ud800"],
  ["a carriage return before a newline", "\r"],
])("%s cannot hide in approvals", (_name, attack) => {
  const shown = reveal(`rm${attack}\n\tx y`);
  expect(shown).toMatch(/^rm(<U\+[0-9A-F]{4,5}>|\\x0d)+\n\tx y$/);
  expect(shown.match(/<U\+|\\x0d/g)).toHaveLength([...attack].length);
});

test("text with visible shapes is unchanged in approvals", () => {
  const text = "a\tb\nGrüße Gru\u0308ße 日本語 🎉 Ελλ עברית\n";
  expect(reveal(text)).toBe(text);
  expect(revealLine("a\nb\tc\r")).toBe("a\\nb\\tc\\x0d");
});

test("ordinary text, newlines, tabs, accents and emoji are unchanged", () => {
  const text = "a\tb\nGrüße 日本語 🎉 ❤️\n";
  expect(sanitize(text)).toBe(text);
});

test("a Windows line end becomes a newline", () => {
  expect(sanitize("a\r\nb")).toBe("a\nb");
});

test("a sequence split by a stream is caught in both halves", () => {
  expect(sanitize("\x1b") + sanitize("[31m")).toBe("\\x1b[31m");
});

test("a table cell stays on its line", () => {
  expect(sanitizeLine("a\nb\tc\x1b")).toBe("a b c\\x1b");
});

test.each(CORPUS)("%s survives JSON for a terminal: same value, nothing to obey", (_name, attack) => {
  const json = sanitizeJson(JSON.stringify({ attack }));
  expect(JSON.parse(json)).toEqual({ attack });
  expect(sanitize(json)).toBe(json);
});
