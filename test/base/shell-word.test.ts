import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { isPlainWord, quoteShellWord } from "../../src/base/shell-word.ts";

test.each([
  "/home/you/project/.demian/tools/a.mjs",
  "a b.mjs",
  "x$(touch evil).mjs",
  "x;touch evil;.mjs",
  "it's `here`.mjs",
  '"quoted" \\ back',
  "-rf",
  "~/x",
  "two\nlines",
  "!history *?[a]{b}",
  "",
])("a shell reads %j as one word, unchanged", (text) => {
  const read = execFileSync("sh", ["-c", `printf '%s|' ${quoteShellWord(text)}`], { encoding: "utf8" });
  expect(read).toBe(`${text}|`);
});

test("quotes are used only if needed", () => {
  expect(quoteShellWord("/a/b-c_d.mjs")).toBe("/a/b-c_d.mjs");
  expect(["-rf", "", "a b", "$x", "~", "a\n"].filter(isPlainWord)).toEqual([]);
});
