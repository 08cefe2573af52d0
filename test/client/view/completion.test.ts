import { expect, test } from "vitest";
import {
  applyCompletion,
  findCompletionTarget,
  matchCommands,
  toFileOption,
} from "../../../src/client/view/completion.ts";

/** The cursor is at the bar. */
function targetAt(marked: string) {
  return findCompletionTarget(marked.replace("|", ""), marked.indexOf("|"));
}

function put(marked: string, path: string): string {
  const target = targetAt(marked);
  if (target === undefined) throw new Error("no target");
  const is_directory = path.endsWith("/") ? { is_directory: true as const } : {};
  const { text, cursor } = applyCompletion(
    marked.replace("|", ""),
    target,
    toFileOption({ path, ...is_directory }),
  );
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test("an @ at the start of a word starts a path; one inside of a word does not", () => {
  expect(targetAt("look at @src/a|")).toEqual({ kind: "file", query: "src/a", from: 8, to: 14 });
  expect(targetAt("@|")).toMatchObject({ kind: "file", query: "" });
  expect(targetAt('see @"my no|tes" now')).toMatchObject({ query: "my no", from: 4, to: 15 });
  expect(targetAt("me@example|")).toBeUndefined();
  expect(targetAt("@a b|")).toBeUndefined();
  expect(targetAt("@a|bc")).toBeUndefined();
});

test("a / is a command only at the start of the message", () => {
  expect(targetAt("/rev|")).toEqual({ kind: "command", query: "rev", from: 0, to: 4 });
  expect(targetAt("/rev| src")).toMatchObject({ kind: "command" });
  expect(targetAt("see /rev|")).toBeUndefined();
  expect(targetAt("/review |")).toBeUndefined();
  expect(targetAt("/re|view")).toBeUndefined();
});

test("the path replaces the word, with one space after it", () => {
  expect(put("look at @a|", "src/a.ts")).toBe("look at @src/a.ts |");
  expect(put("@a| now", "src/a.ts")).toBe("@src/a.ts |now");
  expect(put("@n|", "my notes.md")).toBe('@"my notes.md" |');
});

test("a directory stays open for more", () => {
  expect(put("@s|", "src/")).toBe("@src/|");
  expect(put("@m|", "my files/")).toBe('@"my files/|"');
  expect(put('@"my files/n|"', "my files/n.md")).toBe('@"my files/n.md" |');
});

test("commands that start with the letters come before those that contain them", () => {
  const commands = [{ name: "/review" }, { name: "/compact" }, { name: "/plugin:review" }];
  expect(matchCommands("re", commands)).toEqual([{ name: "/review" }]);
  expect(matchCommands("mpac", commands)).toEqual([{ name: "/compact" }]);
  expect(matchCommands("", commands)).toHaveLength(3);
});
