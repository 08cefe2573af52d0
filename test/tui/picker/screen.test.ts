// A picker on its own screen.
import { describe, expect, test } from "vitest";
import { createPickerScreen } from "../../../src/tui/picker/screen.ts";
import type { App, Input } from "../../../src/tui/screen-types.ts";

const OPTIONS = [
  { value: "a", label: "fix the parser", detail: "3 turns" },
  { value: "b", label: "write the docs", problem: "open in process 7" },
  { value: "c", label: "parse dates" },
];
const key = (chord: string): Input => ({ kind: "key", chord });
const text = (typed: string): Input => ({ kind: "text", text: typed });

function openList() {
  const seen: string[] = [];
  const app = { look: { hasColor: false, isAscii: false }, back: () => seen.push("closed") };
  const opener = createPickerScreen({ title: "which?", options: OPTIONS }, (value) => seen.push(value));
  const screen = opener(app as unknown as App);
  return { seen, screen, rows: () => screen.draw({ columns: 60, rows: 8 }).rows };
}

describe("a picker on its own screen", () => {
  test("fills the screen, filters as one types, and returns the choice", () => {
    const { screen, seen, rows } = openList();
    expect(rows()).toHaveLength(8);
    expect(rows()[0]).toContain("which?");
    for (const letter of "pars e") screen.onInput(text(letter));
    expect(rows().join()).not.toContain("parser");
    for (const _ of " e") screen.onInput(key("backspace"));
    screen.onInput(key("down"));
    expect(rows()[2]).toMatch(/> +parse dates/);
    screen.onInput(key("enter"));
    expect(seen).toEqual(["c", "closed"]);
  });

  test("does not take what has a problem, and says why", () => {
    const { screen, seen, rows } = openList();
    screen.onInput(key("down"));
    screen.onInput(key("enter"));
    expect(seen).toEqual([]);
    expect(rows().join()).toContain("! open in process 7");
    screen.onInput(key("escape"));
    expect(seen).toEqual(["closed"]);
  });
});
