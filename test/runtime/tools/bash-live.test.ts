// What watchers of a running command see.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  LiveOutput,
  MAX_FLUSH_CHARACTERS,
  MAX_LIVE_CHARACTERS,
} from "../../../src/runtime/tools/bash-live.ts";

let shown: string[];
let live: LiveOutput;

beforeEach(() => {
  vi.useFakeTimers();
  shown = [];
  live = new LiveOutput((text) => void shown.push(text));
});

afterEach(() => {
  vi.useRealTimers();
});

test("many small chunks are shown together, and the end shows the rest at once", () => {
  for (const letter of "abc") live.push(Buffer.from(letter));
  expect(shown).toEqual([]);
  vi.advanceTimersByTime(100);
  live.push(Buffer.from("d"));
  live.end();
  expect(shown).toEqual(["abc", "d"]);
  vi.runAllTimers();
  expect(shown).toHaveLength(2);
});

test("of a flood the last part is shown, with how much is missing", () => {
  live.push(Buffer.from(`${"x".repeat(10_000)}end`));
  live.end();
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatch(/^\[… 5907 characters …\]\nx+end$/);
});

test("after enough of it nothing more is shown, and that is said once", () => {
  const rounds = (2 * MAX_LIVE_CHARACTERS) / MAX_FLUSH_CHARACTERS;
  for (let round = 0; round < rounds; round += 1) {
    live.push(Buffer.alloc(MAX_FLUSH_CHARACTERS, "y"));
    vi.advanceTimersByTime(100);
  }
  live.end();
  const text = shown.join("");
  expect(text.length).toBeLessThan(MAX_LIVE_CHARACTERS + 100);
  expect(text.match(/not shown live/g)).toHaveLength(1);
});

test("a character that was cut in two is put together", () => {
  live.push(Buffer.from([0xe2, 0x82]));
  live.push(Buffer.from([0xac]));
  live.end();
  expect(shown).toEqual(["€"]);
});
