// The title: first user message, one line, at most 80 characters (wire facts §8).
import { expect, test } from "vitest";
import { titleOf } from "../../../src/sessions/core/title.ts";

const of = (content: unknown) => titleOf({ role: "user", content } as Parameters<typeof titleOf>[0]);

test("white space of any kind becomes one blank, and none stands at the ends", () => {
  expect(of("  fix\n\tthe \u00a0 bug  ")).toBe("fix the bug");
});

test("80 characters stay, 81 are cut to 79 and an ellipsis", () => {
  expect(of("x".repeat(80))).toBe("x".repeat(80));
  expect(of("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
});

test("a blank before the ellipsis goes", () => {
  expect(of(`${"x".repeat(78)} yyyy`)).toBe(`${"x".repeat(78)}…`);
});

test("an emoji is one character and is never cut in two", () => {
  expect([...(of("🦀".repeat(100)) ?? "")]).toHaveLength(80);
  expect(of("🦀".repeat(80))).toBe("🦀".repeat(80));
});

test("text blocks are joined by a blank; others do not count", () => {
  const image = { type: "image", source: {} };
  expect(of([{ type: "text", text: "look at" }, image, { type: "text", text: "this" }])).toBe("look at this");
});

test("a message without text gives no title", () => {
  expect(of("   ")).toBeUndefined();
  expect(of([{ type: "image" }])).toBeUndefined();
});
