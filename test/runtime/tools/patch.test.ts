// The text of patches: what is parsed, and where chunks apply.
import { describe, expect, test } from "vitest";
import { applyChunks } from "../../../src/runtime/tools/patch/apply.ts";
import { type PatchChunk, parsePatch } from "../../../src/runtime/tools/patch/parse.ts";

const wrap = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

function chunksOf(...lines: string[]): PatchChunk[] {
  const [file] = parsePatch(wrap("*** Update File: a", ...lines));
  return file?.kind === "update" ? file.chunks : [];
}
const apply = (text: string, ...lines: string[]) => applyChunks("a", text, chunksOf(...lines));

describe("a patch", () => {
  test("has files to add, delete, change and move", () => {
    const files = parsePatch(
      wrap(
        "*** Add File: new.ts",
        "+one",
        "+",
        "",
        "*** Delete File: old.ts",
        "*** Update File: a.ts",
        "*** Move to: b.ts",
        "@@ function f() {",
        " x",
        "-y",
        "+z",
      ),
    );
    expect(files).toMatchObject([
      { kind: "add", path: "new.ts", content: "one\n\n" },
      { kind: "delete", path: "old.ts" },
      { kind: "update", path: "a.ts", moveTo: "b.ts", chunks: [{ header: "function f() {" }] },
    ]);
  });

  test.each([
    ["x", /line 1 .*first line must be/],
    ["*** Begin Patch\n*** Add File: a", /last line must be/],
    [wrap(), /names no file/],
    [wrap("*** Rename File: a"), /expected "\*\*\* Add File/],
    [wrap("*** Add File: a", "text"), /line 3 .*must start with "\+"/],
    [wrap("*** Update File: a", "@@", "text"), /line 4 .*must start with/],
    [wrap("*** Update File: a"), /has no changes/],
    [wrap(...Array.from({ length: 201 }, (_, at) => `*** Delete File: f${at}`)), /more than 200/],
  ])("with a fault names the line: %j", (text, message) => {
    expect(() => parsePatch(text)).toThrow(message);
  });
});

describe("a chunk", () => {
  test("replaces lines and keeps the rest", () => {
    expect(apply("1\n2\n3\n4\n", "@@", " 2", "-3", "+three")).toBe("1\n2\nthree\n4\n");
  });

  test("is found below its header, which tells equal places apart", () => {
    const text = "a {\n  x\n}\nb {\n  x\n}\n";
    expect(apply(text, "@@ b {", "-  x", "+  y")).toBe("a {\n  x\n}\nb {\n  y\n}\n");
    expect(() => apply(text, "@@", "-  x", "+  y")).toThrow(/occur 2 times in a \(lines 2, 5\)/);
    expect(() => apply(text, "@@ c {", "-  x", "+  y")).toThrow(/has no line "c {"/);
  });

  test("at the end of the file is marked", () => {
    expect(apply("x\ny\nx\n", "@@", "-x", "+z", "*** End of File")).toBe("x\ny\nz\n");
  });

  test("may differ in white space, and then keeps the lines of the file", () => {
    expect(apply("\tone  \n\ttwo\n", "@@", " one", "-two", "+2")).toBe("\tone  \n2\n");
  });

  test("keeps CRLF, and the missing line end of the last line", () => {
    expect(apply("a\r\nb\r\n", "@@", "-a", "+A")).toBe("A\r\nb\r\n");
    expect(apply("a\nb", "@@", "-b", "+B")).toBe("a\nB");
  });

  test("with new lines only goes to the end, or below its header", () => {
    expect(apply("a\nb\n", "@@", "+c")).toBe("a\nb\nc\n");
    expect(apply("a\nb\n", "@@ a", "+c")).toBe("a\nc\nb\n");
    expect(apply("", "@@", "+c")).toBe("c\n");
  });

  test("that does not fit says which line is missing, and after which line it looked", () => {
    expect(() => apply("a\nb\n", "@@", "-b", "+c", "@@", "-a", "+d")).toThrow(
      /a does not have these lines after line 2: "a"/,
    );
  });
});
