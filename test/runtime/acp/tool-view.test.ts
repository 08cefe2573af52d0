// What a client is shown of an input that is too long to show.
import { expect, test } from "vitest";
import { limitInput, MAX_TEXT_CHARS } from "../../../src/runtime/acp/tool-view.ts";

test("two inputs that differ only where they are cut are not shown the same", () => {
  const part = "x".repeat(MAX_TEXT_CHARS);
  const shown = (middle: string) => JSON.stringify(limitInput({ command: `${part}${middle}${part}` }));
  expect(shown("a").length).toBeLessThan(MAX_TEXT_CHARS + 300);
  expect(shown("a")).toBe(shown("a"));
  expect(shown("a")).not.toBe(shown("b"));
  expect(limitInput({ command: part })).toEqual({ command: part });
});
