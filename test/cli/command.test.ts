import { expect, test } from "vitest";
import { type Flag, parseArguments } from "../../src/cli/command.ts";

const FLAGS: Flag[] = [
  { name: "socket", value: "PATH", summary: "" },
  { name: "json", short: "j", summary: "" },
];

test("flags may come before and after arguments", () => {
  expect(parseArguments(["a", "--json", "b", "--socket", "/x"], FLAGS)).toEqual({
    words: ["a", "b"],
    flags: { json: true, socket: "/x" },
    many: {},
  });
});

test("a value may follow an equals sign, and a flag may be short", () => {
  expect(parseArguments(["--socket=/x=y", "-j"], FLAGS).flags).toEqual({ socket: "/x=y", json: true });
});

test("a repeatable flag keeps all its values, in order", () => {
  const many: Flag[] = [{ name: "option", short: "o", value: "KEY=VALUE", isMany: true, summary: "" }];
  expect(parseArguments(["-o", "a=1", "--option=b=2"], many).many).toEqual({ option: ["a=1", "b=2"] });
});

test("after the given number of arguments everything is an argument", () => {
  expect(parseArguments(["send", "--json", "id", "--json"], FLAGS, 2)).toEqual({
    words: ["send", "id", "--json"],
    flags: { json: true },
    many: {},
  });
});

test("two dashes after the given number of arguments are kept for the reader of the rest", () => {
  expect(parseArguments(["--json", "show", "--", "-x"], FLAGS, 1).words).toEqual(["show", "--", "-x"]);
  expect(parseArguments(["--", "show", "-x"], FLAGS, 1).words).toEqual(["show", "-x"]);
});

test("after two dashes everything is an argument, and one dash is an argument", () => {
  expect(parseArguments(["-", "--", "--json"], FLAGS)).toEqual({
    words: ["-", "--json"],
    flags: {},
    many: {},
  });
});

test.each([
  [["--sokcet", "x"], "unknown flag --sokcet; did you mean --socket?"],
  [["--zzz"], "unknown flag --zzz; to pass it as text, put -- before it"],
  [["- item"], 'unknown flag "- item"; to pass it as text, put -- before it'],
  [["--socket"], "--socket needs a value: --socket PATH"],
  [["--json=1"], "--json takes no value"],
])("%j is refused: %s", (argv, message) => {
  expect(() => parseArguments(argv, FLAGS)).toThrow(expect.objectContaining({ code: "usage", message }));
});
