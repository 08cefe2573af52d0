import { expect, test } from "vitest";
import { type Flag, parseArguments } from "../../src/cli/command.ts";

const FLAGS: Flag[] = [
  { name: "socket", value: "PATH", summary: "" },
  { name: "json", short: "j", summary: "" },
];

test("flags may stand before and behind words", () => {
  expect(parseArguments(["a", "--json", "b", "--socket", "/x"], FLAGS)).toEqual({
    words: ["a", "b"],
    flags: { json: true, socket: "/x" },
  });
});

test("a value may follow an equals sign, and a flag may be short", () => {
  expect(parseArguments(["--socket=/x=y", "-j"], FLAGS).flags).toEqual({ socket: "/x=y", json: true });
});

test("behind the given number of words everything is a word", () => {
  expect(parseArguments(["send", "--json", "id", "--json"], FLAGS, 2)).toEqual({
    words: ["send", "id", "--json"],
    flags: { json: true },
  });
});

test("behind two dashes everything is a word, and one dash is a word", () => {
  expect(parseArguments(["-", "--", "--json"], FLAGS)).toEqual({ words: ["-", "--json"], flags: {} });
});

test.each([
  [["--sokcet", "x"], "unknown flag --sokcet; did you mean --socket?"],
  [["--zzz"], "unknown flag --zzz"],
  [["--socket"], "--socket needs a value: --socket PATH"],
  [["--json=1"], "--json takes no value"],
])("%j is refused: %s", (argv, message) => {
  expect(() => parseArguments(argv, FLAGS)).toThrow(expect.objectContaining({ code: "usage", message }));
});
