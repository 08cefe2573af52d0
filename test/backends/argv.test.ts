import { describe, expect, test } from "vitest";
import { type ArgRow, optionsToArgv } from "../../src/backends/argv.ts";

const ROWS: ArgRow[] = [
  { option: "value", flag: "--value", kind: "value" },
  { option: "text", flag: "--text", kind: "text" },
  { option: "short", flag: "-s", long: "--short", kind: "text" },
  { option: "json", flag: "--json", kind: "json" },
  { option: "list", flag: "--list", kind: "list" },
  { option: "repeat", flag: "--repeat", kind: "repeat" },
  { option: "on", flag: "--on", kind: "on" },
  { option: "off", flag: "--no-off", kind: "off" },
];
const build = (options: Record<string, unknown>) => optionsToArgv(ROWS, options, "/options/x");

describe("optionsToArgv", () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ value: "a b" }, ["--value", "a b"]],
    [{ value: "" }, ["--value", ""]],
    [{ value: 0.5 }, ["--value", "0.5"]],
    [{ value: null }, []],
    [{ text: "-dashed" }, ["--text=-dashed"]],
    [{ short: "-dashed" }, ["--short=-dashed"]],
    [{ short: "plain" }, ["-s", "plain"]],
    [{ json: { a: [1] } }, ["--json", '{"a":[1]}']],
    [{ json: '{"a": 1}' }, ["--json", '{"a": 1}']],
    [{ list: ["a", "b"] }, ["--list", "a", "b"]],
    [{ list: [] }, []],
    [{ repeat: ["a", "b"] }, ["--repeat", "a", "--repeat", "b"]],
    [{ on: true, off: false }, ["--on", "--no-off"]],
    [{ on: false, off: true }, []],
    [{ list: ["l"], value: "v" }, ["--value", "v", "--list", "l"]],
  ])("%j becomes %j", (options, argv) => {
    expect(build(options)).toEqual(argv);
  });

  test.each([
    [{ value: "--evil" }, "/options/x/value"],
    [{ value: "-e" }, "/options/x/value"],
    [{ json: "--evil" }, "/options/x/json"],
    [{ list: ["ok", "--evil"] }, "/options/x/list/1"],
    [{ repeat: ["--evil"] }, "/options/x/repeat/0"],
  ])("%j is refused, because the agent would take the value for a flag", (options, at) => {
    expect(() => build(options)).toThrow(
      expect.objectContaining({ code: "unsafe_flag", message: expect.stringContaining(`${at}:`) }),
    );
  });

  test.each([{ value: "a\0b" }, { text: "a\0b" }, { list: ["a\0"] }, { json: "\0" }])(
    "%j is refused, because NUL would cut the argument",
    (options) => {
      expect(() => build(options)).toThrow(expect.objectContaining({ code: "invalid_message" }));
    },
  );
});
