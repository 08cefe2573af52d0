import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePlain } from "../../../src/base/commands/plain.ts";

/** What bash makes of a command: the command is looked up as a function that prints its words. */
function bashWords(commands: readonly string[]): (string[] | undefined)[] {
  const script = commands
    .map((command) => `command_not_found_handle() { printf '%s\\0' "$@"; }\nPATH=/nowhere\n${command}`)
    .map((text) => `(\n${text}\n)\nprintf '\\1\\0'`)
    .join("\n");
  const { stdout } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
  return stdout
    .split("\u0001\0")
    .slice(0, -1)
    .map((part) => (part === "" ? undefined : part.split("\0").slice(0, -1)));
}

const quoted = fc
  .string({ unit: fc.constantFrom(..."ab Z9é字_-./:@%+,=;&|<>(){}[]*?~#^", "’"), maxLength: 8 })
  .chain((text) => fc.constantFrom(`'${text}'`, `"${text}"`));
const bare = fc.string({ unit: fc.constantFrom(..."abZ09_./:@%+,=-"), minLength: 1, maxLength: 8 });
const word = fc.array(fc.oneof(bare, quoted), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
const plainish = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => ["zz", ...words].join(" "));
const anything = fc
  .string({ unit: fc.constantFrom(..."ab '\"$`\\!;&|<>(){}[]*?~#=\n\t-é"), maxLength: 12 })
  .map((text) => `zz${text}`);

describe("parsePlain", () => {
  test("what it takes is what bash makes of it, word by word", () => {
    const commands = [...fc.sample(plainish, 400), ...fc.sample(anything, 1500)];
    const taken = commands.filter((command) => parsePlain(command) !== undefined);
    expect(taken.length).toBeGreaterThan(300);
    const words = bashWords(taken);
    expect(words.length).toBe(taken.length);
    const wrong = taken.filter((command, index) => !sameWords(parsePlain(command), words[index]));
    expect(wrong).toEqual([]);
  });

  test("words of any kind in simple quotes are taken", () => {
    expect(parsePlain("grep -n 'a b' \"c|d\" x'y'\"z\" ''")).toEqual(["grep", "-n", "a b", "c|d", "xyz", ""]);
    expect(parsePlain("cat 'café 字.txt'")).toEqual(["cat", "café 字.txt"]);
  });

  test.each([
    ["an operator", "a;b"],
    ["a newline", "a\nb"],
    ["a tab", "a\tb"],
    ["a variable", "a $b"],
    ["a variable in quotes", 'a "$b"'],
    ["a dollar in single quotes", "a '$b'"],
    ["a backtick in quotes", "a '`'"],
    ["a backslash in quotes", "a '\\'"],
    ["an exclamation mark in quotes", 'a "!b"'],
    ["a backslash", "a \\b"],
    ["a glob", "a *"],
    ["a tilde", "a ~"],
    ["a brace", "a {b,c}"],
    ["a comment", "a #b"],
    ["an assignment before the command", "A=b c"],
    ["an assignment in quotes", "'A=b' c"],
    ["a reserved word", "time a"],
    ["an unfinished quote", "a 'b"],
    ["a letter outside ASCII without quotes", "cat café"],
    ["a text that is not composed", "cat 'cafe\u0301'"],
    ["an invisible character in quotes", "cat 'a\u200bb'"],
    ["an odd blank in quotes", "cat 'a\u00a0b'"],
    ["a lone surrogate in quotes", "cat 'a\ud800b'"],
    ["a control in quotes", "cat 'a\u001bb'"],
    ["an empty command", ""],
    ["an empty first word", "'' a"],
    ["a job", "%1"],
    ["a word that zsh expands", "ls =touch"],
    ["more than 8192 characters", `a ${"b".repeat(8192)}`],
  ])("%s is not plain", (_name, command) => {
    expect(parsePlain(command)).toBeUndefined();
  });
});

function sameWords(ours: string[] | undefined, theirs: string[] | undefined): boolean {
  return JSON.stringify(ours) === JSON.stringify(theirs);
}
