import fc from "fast-check";
import { expect, test } from "vitest";
import { type Frame, paint } from "../../src/tui/paint.ts";

test("only the rows that differ are written", () => {
  const change = paint({ rows: ["a", "b", "c"] }, { rows: ["a", "B", "c"] });
  expect(change).toContain("\x1b[2;1H\x1b[2KB");
  expect(change).not.toContain("\x1b[1;1H");
  expect(change).not.toContain("\x1b[3;1H");
});

test("nothing is written when nothing differs", () => {
  expect(paint({ rows: ["a"], cursor: { x: 1, y: 0 } }, { rows: ["a"], cursor: { x: 1, y: 0 } })).toBe("");
});

test("a terminal that gets every change shows the last frame, with the cursor where it belongs", () => {
  const frames = fc.array(
    fc.record({
      rows: fc.array(fc.constantFrom("", "one", "two", "three"), { maxLength: 6 }),
      cursor: fc.option(fc.record({ x: fc.nat(9), y: fc.nat(5) }), { nil: undefined }),
    }),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(frames, (all) => {
      const terminal = new TinyTerminal();
      let before: Frame = { rows: [] };
      for (const after of all) {
        terminal.write(paint(before, after));
        before = after;
        expect(terminal.rows()).toEqual(Array.from({ length: 6 }, (_, at) => after.rows[at] ?? ""));
        expect(terminal.cursor).toEqual(after.cursor);
      }
    }),
  );
});

const ESCAPE = "\u001b";
const PARTS = new RegExp(`${ESCAPE}\\[(\\d+);(\\d+)H|${ESCAPE}\\[[?0-9]*[a-zA-Z]|[^${ESCAPE}]+`, "g");

/** Knows exactly what `paint` uses. */
class TinyTerminal {
  cursor: { x: number; y: number } | undefined;
  readonly #rows: string[] = [];
  #at = { x: 0, y: 0 };

  write(text: string): void {
    for (const [whole, row, column] of text.matchAll(PARTS)) {
      if (row !== undefined) this.#at = { x: Number(column) - 1, y: Number(row) - 1 };
      else if (whole === "\x1b[2K") this.#rows[this.#at.y] = "";
      else if (whole === "\x1b[?25l") this.cursor = undefined;
      else if (whole === "\x1b[?25h") this.cursor = this.#at;
      else if (!whole.startsWith("\x1b")) this.#rows[this.#at.y] += whole;
    }
  }

  rows(): string[] {
    return Array.from({ length: 6 }, (_, at) => this.#rows[at] ?? "");
  }
}
