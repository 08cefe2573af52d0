import { expect, test } from "vitest";
import { formatTable } from "../../src/cli/output.ts";
import { memoryOutput } from "./memory-sink.ts";

test("foreign text is sanitized on output", async () => {
  const { output, stdout, stderr } = memoryOutput();
  await output.text("a\x1b[2Jb");
  output.note("c\x1b]0;t\x07");
  expect(stdout.text).toBe("a\\x1b[2Jb");
  expect(stderr.text).toBe("c\\x1b]0;t\\x07\n");
});

test("JSON lines stay the same JSON, with terminal control characters escaped", async () => {
  const { output, stdout } = memoryOutput({ isTTY: true });
  await output.json({ text: "\u202e\u009b" });
  expect(stdout.text).toBe('{"text":"\\u202e\\u009b"}\n');
});

test.each([
  ["on a terminal notes are coloured", { isTTY: true }, true],
  ["NO_COLOR makes them plain", { isTTY: true, env: { NO_COLOR: "1" } }, false],
  ["a pipe makes them plain", { isTTY: false }, false],
])("%s", (_rule, options, isColoured) => {
  const { output, stderr } = memoryOutput(options);
  output.note("hi");
  expect(stderr.text.includes("\x1b[")).toBe(isColoured);
});

test("a line has one style, and foreign text in it has none of its own", async () => {
  const { output, stdout } = memoryOutput({ isTTY: true });
  await output.styledLine("red", "a\x1b[32mb");
  expect(stdout.text).toBe("\x1b[31ma\\x1b[32mb\x1b[39m\n");
  const plain = memoryOutput({ isTTY: true, env: { NO_COLOR: "1" } });
  await plain.output.styledLine("red", "a");
  expect(plain.stdout.text).toBe("a\n");
});

test("quiet leaves out notes but not errors", () => {
  const { output, stderr } = memoryOutput({ isQuiet: true });
  output.note("talk");
  output.error("trouble");
  expect(stderr.text).toBe("trouble\n");
});

test("columns are aligned, and a line is cut at the width of the screen", () => {
  const rows = [
    ["A", "LONG", "X"],
    ["aaa", "b", "a title that is long"],
  ];
  expect(formatTable(rows, 20)).toEqual(["A    LONG  X", "aaa  b     a title …"]);
  expect(
    formatTable(
      [
        ["修復", "x"],
        ["ab", "y"],
      ],
      80,
    ),
  ).toEqual(["修復  x", "ab    y"]);
  expect(formatTable([["修復修復修復", "x"]], 8)).toEqual(["修復修…"]);
});

test("notes use the name of the program that was called; text that the user decides on is never changed", () => {
  const { output, stderr } = memoryOutput({ rename: (text) => text.replace("sm ", "blemees ") });
  output.note("follow it with: sm tail");
  output.ask("run: sm rm x");
  expect(stderr.text).toBe("follow it with: blemees tail\nrun: sm rm x\n");
});
