// edit_file: exact replacement, and its message when the text is missing.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { diffEdits, editFileTool } from "../../../src/runtime/tools/edit-file.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const edit = (oldString: string, newString: string, more: object = {}) =>
  bench.text(editFileTool, { path: "a.ts", oldString, newString, ...more });
const fault = (oldString: string, newString: string, more: object = {}) =>
  bench.fault(editFileTool, { path: "a.ts", oldString, newString, ...more });

describe("replacing", () => {
  test("very many lines at once", async () => {
    bench.put("a.ts", "one\n");
    expect(await edit("one\n", "x\n".repeat(150_000))).toContain("1 replacement");
    expect(await edit("x", "y", { replaceAll: true })).toContain("150000 replacements");
  });

  test("one place, with a diff that shows it", async () => {
    bench.put("a.ts", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    const { plan } = await bench.plan(editFileTool, {
      path: "a.ts",
      oldString: "5\n",
      newString: "five\nfünf\n",
    });
    expect(plan.changes).toEqual([
      {
        path: "a.ts",
        oldText: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        newText: "1\n2\n3\n4\nfive\nfünf\n6\n7\n8\n9\n",
      },
    ]);
    expect(await edit("5\n", "five\nfünf\n")).toBe(
      "edited a.ts: 1 replacement\n\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+fünf\n 6\n 7\n 8",
    );
    expect(bench.get("a.ts")).toBe(plan.changes?.[0]?.newText);
  });

  test("dollar signs are just text", async () => {
    bench.put("a.ts", "a b c");
    await edit("b", "$& $1 $$ $`");
    expect(bench.get("a.ts")).toBe("a $& $1 $$ $` c");
  });

  test("every place with replaceAll", async () => {
    bench.put("a.ts", "x = y;\ny = z;\n");
    expect(await edit("y", "why", { replaceAll: true })).toMatch(/^edited a\.ts: 2 replacements/);
    expect(bench.get("a.ts")).toBe("x = why;\nwhy = z;\n");
  });

  test("a byte order mark and CRLF stay", async () => {
    bench.put("a.ts", "\ufeffone\r\ntwo\r\n");
    await edit("two", "2");
    expect(bench.get("a.ts")).toBe("\ufeffone\r\n2\r\n");
  });

  test("a file that changed after it was shown is left alone", async () => {
    bench.put("a.ts", "old text");
    const { value, plan } = await bench.plan(editFileTool, {
      path: "a.ts",
      oldString: "old",
      newString: "new",
    });
    bench.put("a.ts", "old text, changed");
    const failure = editFileTool.execute(value, plan, bench.context());
    await expect(failure).rejects.toMatchObject({
      code: "changed_since",
      message: expect.stringMatching(/read it again/),
    });
    expect(bench.get("a.ts")).toBe("old text, changed");
  });
});

describe("refusing", () => {
  test("several places, with their lines", async () => {
    bench.put("a.ts", "x\ny x\nz\nx\n");
    expect(await fault("x", "w")).toMatch(
      /^several_matches: .* occurs 3 times in a\.ts \(lines 1, 2, 4\).*replaceAll/,
    );
    expect(bench.get("a.ts")).toBe("x\ny x\nz\nx\n");
  });

  test("an edit that changes nothing, and an empty oldString", async () => {
    bench.put("a.ts", "x");
    expect(await fault("x", "x")).toMatch(/^no_change/);
    expect(editFileTool.check({ path: "a", oldString: "", newString: "x" })).toMatchObject({
      message: expect.stringMatching(/\/oldString: must not be empty.*write_file/),
    });
  });

  test.each([
    ["one\r\ntwo\r\n", "one\ntwo", /the file has CRLF line ends; write \\r\\n/],
    ["one\ntwo\n", "one\r\ntwo", /the file has LF line ends/],
    [
      "if (a) {\n\treturn;\n}\n",
      "if (a) {\n  return;\n}",
      /only the whitespace differs; from line 1 the file reads:\nif \(a\) \{\n\treturn;/,
    ],
    ["const a = 1;\nconst b = 2;\n", "     2\tconst b = 2;", /contains the line numbers/],
    [
      "function compute(x) {\n",
      "function conpute(x) {",
      /closest match is line 1:\nfunction compute\(x\) \{/,
    ],
    [
      "first line\nsecond one\n",
      "first line\nanother second",
      /first line matches line 1, but the following lines differ:\nfirst line\nsecond one/,
    ],
    ["", "x", /the file is empty; use write_file/],
    ["abc\n", "something quite different", /read the file again/],
  ])("%j without %j: a hint", async (text, wanted, hint) => {
    bench.put("a.ts", text);
    expect(await fault(wanted, "new")).toMatch(/^no_match: oldString was not found in a\.ts/);
    expect(await fault(wanted, "new")).toMatch(hint);
  });

  test("files that are no UTF-8 text, so that none is damaged", async () => {
    bench.put("a.ts", Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    expect(await fault("caf", "x")).toMatch(/^not_utf8/);
    bench.put("a.ts", Buffer.from([0x63, 0, 1]));
    expect(await fault("c", "x")).toMatch(/^binary/);
  });

  test("what is missing, outside, a directory, or protected", async () => {
    expect(await fault("x", "y")).toMatch(/^not_found/);
    expect(await fault("x", "y", { path: "../a" })).toMatch(/^path_outside/);
    expect(await fault("x", "y", { path: "." })).toMatch(/^not_a_file/);
    bench.put(".env", "x");
    const { plan } = await bench.plan(editFileTool, { path: ".env", oldString: "x", newString: "y" });
    expect(JSON.stringify(plan)).not.toContain("oldText");
    expect(await fault("x", "y", { path: ".env" })).toMatch(/^protected/);
  });

  test("a replacement that makes the file too large", async () => {
    bench.put("a.ts", "x".repeat(2000));
    expect(await fault("x", "y".repeat(10_000), { replaceAll: true })).toMatch(/^too_large/);
  });
});

test("a diff applied to the old text gives the new text", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c\n", "\n", "ab\n"), { maxLength: 40 })
    .map((parts) => parts.join(""));
  const wanted = fc.constantFrom("a", "b", "c\n", "\n", "a\nb", "ab", "\na", "b\n\n");
  const put = fc.constantFrom("", "x", "x\n", "\n", "x\ny", "\nx\n", "b");
  fc.assert(
    fc.property(text, wanted, put, (old, from, to) => {
      const edits: { at: number; length: number; text: string }[] = [];
      for (let at = old.indexOf(from); at !== -1; at = old.indexOf(from, at + from.length)) {
        edits.push({ at, length: from.length, text: to });
      }
      if (edits.length === 0) return;
      expect(applyDiff(old, diffEdits(old, edits))).toEqual(linesOf(old.split(from).join(to)));
    }),
    { numRuns: 2000 },
  );
});

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Checks the context and the numbers of the hunks on its way. */
function applyDiff(text: string, diff: string): string[] {
  const old = linesOf(text);
  const result: string[] = [];
  let at = 0;
  let counts = { old: 0, new: 0 };
  for (const line of linesOf(diff === "" ? "" : `${diff}\n`)) {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
    if (header !== null) {
      expect(counts).toEqual({ old: 0, new: 0 });
      const start = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      result.push(...old.slice(at, start));
      at = start;
      expect(Number(header[3]) - (header[4] === "0" ? 0 : 1)).toBe(result.length);
      counts = { old: Number(header[2]), new: Number(header[4]) };
      continue;
    }
    if (line[0] === "\\") continue;
    if (line[0] !== "+") {
      expect(old[at]).toBe(line.slice(1));
      at += 1;
      counts.old -= 1;
    }
    if (line[0] !== "-") {
      result.push(line.slice(1));
      counts.new -= 1;
    }
  }
  expect(counts).toEqual({ old: 0, new: 0 });
  return [...result, ...old.slice(at)];
}

test.each([
  ["is put in", { oldString: "x", newString: "\ud83d" }],
  ["is left over", { oldString: "x\ud83d", newString: "" }],
])("an edit by which a lone surrogate %s is refused", async (_name, edit) => {
  bench.put("a", "x😀");
  expect(await bench.fault(editFileTool, { path: "a", ...edit })).toMatch(/^invalid_text/);
  expect(bench.get("a")).toBe("x😀");
});
