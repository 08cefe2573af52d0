// The bytes of titles and messages: no untrusted text escapes from them.
import { expect, test } from "vitest";
import { makeMessageSequence, makeTitleSequence } from "../../../src/tui/notify/sequences.ts";
import type { Desktop } from "../../../src/tui/notify/terminal.ts";

const HOSTILE = [
  "\u001b]0;owned\u0007",
  "\u001b\\\u001b[2J",
  "\u0007\u0007",
  "\u009c\u009d0;x\u009c",
  "a\nb\r\nc\u0000",
  "\u202egnp",
  "4;1;50",
  ";;;notify;x",
  "\ud800",
  "x".repeat(100_000),
];
/** ESC in a form that a test can write. */
const shown = (sequence: string): string => sequence.replaceAll("\u001b", "␛");
const DESKTOPS: readonly Desktop[] = ["osc9", "osc777", "osc99"];

test("a title is one short sequence, whatever it contains", () => {
  for (const text of HOSTILE) {
    const sequence = makeTitleSequence(text);
    expect(shown(sequence)).toMatch(/^␛\]2;[^␛\p{Cc}\u202e]*␛\\$/u);
    expect(sequence.length).toBeLessThan(200);
  }
  expect(makeTitleSequence("fixer ✓")).toBe("\u001b]2;fixer ✓\u001b\\");
});

test("a message is only its sequences and short, whatever it contains", () => {
  for (const desktop of DESKTOPS)
    for (const text of HOSTILE) {
      const sequence = makeMessageSequence(text, { hasTitle: true, desktop });
      expect(shown(sequence)).toMatch(/^(␛\][^␛\p{Cc}\u202e]*␛\\)+$/u);
      expect(sequence.length).toBeLessThan(1_500);
    }
});

test("a text cannot be taken for a command of OSC 9, nor for another field of OSC 777", () => {
  expect(makeMessageSequence("4;1;50", { hasTitle: true, desktop: "osc9" })).toBe(
    "\u001b]9;blemees: 4;1;50\u001b\\",
  );
  expect(makeMessageSequence("a;b", { hasTitle: true, desktop: "osc777" })).toBe(
    "\u001b]777;notify;blemees;a,b\u001b\\",
  );
});

test("kitty gets title and text in base64", () => {
  const sequence = makeMessageSequence("fixer waits", { hasTitle: true, desktop: "osc99" });
  const bodies = [...shown(sequence).matchAll(/;([A-Za-z0-9+/=]+)␛/g)].map(([, body = ""]) =>
    Buffer.from(body, "base64").toString(),
  );
  expect(bodies).toEqual(["blemees", "fixer waits"]);
});

test("through tmux it is wrapped, with every ESC of it doubled", () => {
  const traits = { hasTitle: true, desktop: "osc9", passThrough: "tmux" } as const;
  expect(makeMessageSequence("x", traits)).toBe(
    "\u001bPtmux;\u001b\u001b]9;blemees: x\u001b\u001b\\\u001b\\",
  );
});

test("a terminal that is not known to show messages gets none", () => {
  expect(makeMessageSequence("x", { hasTitle: true })).toBe("");
});
