import { expect, test } from "vitest";
import { parseOpenPairs, parsePairs, parseValue, splitWords } from "../../src/cli/values.ts";

test.each([
  ["null", null],
  ["true", true],
  ["false", false],
  ["42", 42],
  ["-7", -7],
  ["1.5", 1.5],
  ['"quoted"', "quoted"],
  ["[1,2]", [1, 2]],
  ['{"a":1}', { a: 1 }],
  ["sonnet", "sonnet"],
  ["", ""],
  ["{broken", "{broken"],
  ["99999999999999999999", "99999999999999999999"],
  ["True", "True"],
])("the value %s is read as %j", (text, value) => {
  expect(parseValue(text)).toEqual(value);
});

test("a value may contain equals signs", () => {
  expect(parsePairs(["a=b=c"])).toEqual([["a", "b=c"]]);
});

test.each(["abc", "=x"])("%s is no pair and is refused", (token) => {
  expect(() => parsePairs([token])).toThrow(/expected key=value/);
});

test("backend, resume and last_seen_seq belong to the open, everything else to the backend's options", () => {
  const tokens = ["backend=codex", "resume=true", "last_seen_seq=3", "model=x", "approval-policy=never"];
  expect(parseOpenPairs(tokens, "claude")).toEqual({
    backend: "codex",
    top: { resume: true, last_seen_seq: 3 },
    options: { model: "x", "approval-policy": "never" },
  });
});

test.each(["model=x", "options.model=x", "options.claude.model=x"])("%s sets the option model", (token) => {
  expect(parseOpenPairs([token], "claude").options).toEqual({ model: "x" });
});

test("dots nest, and keys that reach a prototype are refused", () => {
  expect(parseOpenPairs(["config.a.b=1", "config.c=2"], "codex").options).toEqual({
    config: { a: { b: 1 }, c: 2 },
  });
  expect(() => parseOpenPairs(["__proto__.x=1"], "codex")).toThrow(/bad option name/);
});

test.each([
  ["a  b", ["a", "b"]],
  ['t="two words" x=1', ['t="two words"', "x=1"]],
  ["t='two words'", ["t=two words"]],
  ['c={"a": [1, 2]} d=[3]', ['c={"a": [1, 2]}', "d=[3]"]],
  ['c={"a": "} x"} d', ['c={"a": "} x"}', "d"]],
  ["it's fine", ["it's", "fine"]],
  ['t="open end', ['t="open', "end"]],
])("the line %s splits into %j", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});
