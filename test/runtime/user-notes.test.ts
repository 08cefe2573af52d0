import { expect, test } from "vitest";
import { UserNotes } from "../../src/runtime/user-notes.ts";

test("notes are returned once, in order", () => {
  const notes = new UserNotes();
  notes.add("a");
  notes.add("b");
  expect(notes.take()).toBe("a\n\nb");
  expect(notes.take()).toBe("");
});

test("many or long notes lose the oldest ones, and that is said", () => {
  const notes = new UserNotes();
  for (let at = 0; at < 10; at += 1) notes.add(`${at}${"x".repeat(20_000)}`);
  const text = notes.take();
  expect(text.startsWith("[7 earlier notes left out]\n\n7x")).toBe(true);
  expect(text.length).toBeLessThan(70_000);
});
