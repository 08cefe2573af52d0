// The title: first user message, one line, at most 80 characters.
import { expect, test } from "vitest";
import { makeTitle } from "../../../src/sessions/core/title.ts";

const of = (content: unknown) => makeTitle({ role: "user", content } as Parameters<typeof makeTitle>[0]);

test("any white space becomes one space, and both ends are trimmed", () => {
  expect(of("  fix\n\tthe \u00a0 bug  ")).toBe("fix the bug");
});

test("80 characters stay, 81 are cut to 79 and an ellipsis", () => {
  expect(of("x".repeat(80))).toBe("x".repeat(80));
  expect(of("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
});

test("a blank before the ellipsis is removed", () => {
  expect(of(`${"x".repeat(78)} yyyy`)).toBe(`${"x".repeat(78)}…`);
});

test("an emoji is one character and is never split", () => {
  expect([...(of("🦀".repeat(100)) ?? "")]).toHaveLength(80);
  expect(of("🦀".repeat(80))).toBe("🦀".repeat(80));
});

test("text blocks are joined by a blank; others are ignored", () => {
  const image = { type: "image", source: {} };
  expect(of([{ type: "text", text: "look at" }, image, { type: "text", text: "this" }])).toBe("look at this");
});

test("a message without text gives no title", () => {
  expect(of("   ")).toBeUndefined();
  expect(of([{ type: "image" }])).toBeUndefined();
});
