import fc from "fast-check";
import { expect, test } from "vitest";
import { type Decoded, decode } from "../../../src/tui/keys/decode.ts";
import { KeyReader } from "../../../src/tui/keys/reader.ts";

function decoded(text: string): Decoded[] {
  return decode({ rest: "" }, text, true).inputs;
}

function chords(text: string): string[] {
  return decoded(text).map((input) => (input.kind === "key" ? input.chord : `${input.kind}:${input.text}`));
}

const SEQUENCES: readonly (readonly [string, string])[] = [
  ["\r", "enter"],
  ["\n", "ctrl-j"],
  ["\t", "tab"],
  ["\x7f", "backspace"],
  ["\x08", "ctrl-h"],
  ["\x03", "ctrl-c"],
  ["\x1b", "escape"],
  ["\x1b\r", "alt-enter"],
  ["\x1bb", "alt-b"],
  ["\x1bB", "alt-shift-b"],
  ["\x1b\x7f", "alt-backspace"],
  ["\x1b[A", "up"],
  ["\x1bOB", "down"],
  ["\x1b[1;5C", "ctrl-right"],
  ["\x1b[1;3A", "alt-up"],
  ["\x1b\x1b[D", "alt-left"],
  ["\x1b[5~", "pageup"],
  ["\x1b[6;2~", "shift-pagedown"],
  ["\x1b[3~", "delete"],
  ["\x1bOP", "f1"],
  ["\x1b[[B", "f2"],
  ["\x1b[11~", "f1"],
  ["\x1b[24~", "f12"],
  ["\x1b[Z", "shift-tab"],
  ["\x1b[<64;10;12M", "wheelup"],
  ["\x1b[<65;10;12M", "wheeldown"],
  ["\x1b[13;2u", "shift-enter"],
  ["\x1b[27u", "escape"],
  ["\x1b[99;5u", "ctrl-c"],
  ["\x1b[27;2;13~", "shift-enter"],
  ["\x1b[200~a\rb\x1b[201~", "paste:a\nb"],
  ["ü", "text:ü"],
];

test.each(SEQUENCES)("%j is %s", (sequence, name) => {
  expect(chords(sequence)).toEqual([name]);
});

test("what a terminal replies or sends on its own is not a key", () => {
  const text = "\x1b[?1u\x1b[I\x1b]11;rgb:0/0/0\x07\x1b[<0;1;1M\x1b[97;9u";
  expect(decoded(text).filter(({ kind }) => kind !== "reply")).toEqual([]);
});

test("what looks like a key inside of a paste is part of the paste", () => {
  expect(chords("\x1b[200~y\r\x1b[A\x03\x1b[201~n")).toEqual(["paste:y\n\x1b[A\x03", "text:n"]);
});

test("however the bytes are cut, the same keys come out", () => {
  const pieces = fc.oneof(
    fc.constantFrom(...SEQUENCES.map(([sequence]) => sequence).filter((sequence) => sequence !== "\x1b")),
    fc.string({ unit: "grapheme" }),
    fc.string({
      unit: fc.constantFrom("\x1b", "[", "O", "]", "2", "0", "1", ";", "~", "u", "A", "\x07", "<", "?"),
    }),
  );
  fc.assert(
    fc.property(fc.array(pieces), fc.array(fc.nat({ max: 40 })), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(""));
      const whole = read([bytes]);
      const chunks: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        chunks.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      chunks.push(bytes.subarray(at));
      expect(read(chunks)).toEqual(whole);
    }),
    { numRuns: 400 },
  );
});

test("every letter that is typed comes out, in order, between any keys", () => {
  const letters = fc.array(fc.constantFrom("a", "\x1b[A", "ü", "\r", "\x1b[200~p\x1b[201~", "漢", "\x1b[5~"));
  fc.assert(
    fc.property(letters, (parts) => {
      const text = decoded(parts.join("")).flatMap((input) => (input.kind === "text" ? input.text : []));
      expect(text).toEqual(parts.filter((part) => /^[aü漢]$/.test(part)));
    }),
  );
});

function read(chunks: readonly Buffer[]): Decoded[] {
  const inputs: Decoded[] = [];
  const reader = new KeyReader((some) => inputs.push(...some));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return inputs;
}
