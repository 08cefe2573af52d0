import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkChainFiles } from "../../../src/base/chain/files.ts";
import { checkChain } from "../../../src/base/chain/verify.ts";
import { ChainWriter } from "../../../src/base/chain/writer.ts";
import { tempDir } from "../../backends/temp-dir.ts";

function write(dir: string, count: number, maxBytes = 1 << 20): void {
  const chain = new ChainWriter({ dir, name: "audit", maxBytes });
  for (let at = 0; at < count; at += 1) chain.append({ kind: "test", text: `line ${at}` });
  chain.close();
}

function damage(count: number, change: (lines: string[]) => string[]) {
  const dir = tempDir("chain");
  write(dir, count);
  const file = join(dir, "audit.ndjson");
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  writeFileSync(
    file,
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
  return checkChainFiles(dir, "audit").fault;
}

describe("a chain of lines", () => {
  test("is intact after any number of restarts, in files that only the user can read", () => {
    const dir = tempDir("chain");
    for (const count of [3, 0, 2]) write(dir, count);
    expect(checkChainFiles(dir, "audit")).toEqual({ lines: 5, first_n: 1, last_n: 5 });
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o077).toBe(0);
    expect(checkChainFiles(tempDir("empty"), "audit")).toEqual({ lines: 0 });
  });

  test("a flipped bit anywhere is found at its line", () => {
    const dir = tempDir("chain");
    write(dir, 6);
    const whole = readFileSync(join(dir, "audit.ndjson"));
    const head = JSON.parse(readFileSync(join(dir, "audit.head"), "utf8"));
    const property = fc.property(fc.nat(whole.length - 1), fc.nat(7), (at, bit) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      const line = whole.subarray(0, at).toString().split("\n").length;
      const { fault } = checkChain([{ file: "f", bytes }], head);
      expect(fault).toMatchObject({ n: line, line });
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("a changed, dropped, added or moved line is named", () => {
    expect(
      damage(5, (lines) => lines.toSpliced(2, 1, lines[2]?.replace("line 2", "line X") ?? "")),
    ).toMatchObject({
      ...{ n: 3, line: 3 },
      fault: "was changed: line 4 has another hash of it",
    });
    expect(damage(5, (lines) => lines.toSpliced(2, 1))).toMatchObject({
      n: 3,
      line: 3,
      fault: "has the number 4 instead of 3",
    });
    expect(damage(5, (lines) => lines.toSpliced(0, 1))).toMatchObject({
      n: 1,
      fault: expect.stringMatching(/^missing/),
    });
    expect(damage(5, (lines) => lines.toSpliced(2, 0, lines[1] ?? ""))).toMatchObject({ n: 3 });
    const swapped = (lines: string[]) =>
      [lines[0], lines[2], lines[1], ...lines.slice(3)].map((line) => line ?? "");
    expect(damage(5, swapped)).toMatchObject({ n: 2, line: 2 });
    expect(damage(5, (lines) => lines.with(4, "not JSON"))).toMatchObject({
      n: 5,
      fault: "is not a JSON object",
    });
  });

  test("a last line that was changed is found by the head", () => {
    expect(damage(3, (lines) => lines.with(2, lines[2]?.replace("line 2", "line X") ?? ""))).toMatchObject({
      ...{ n: 3, line: 3 },
      fault: "is not the line that was written",
    });
  });

  test("deleted files are reported by the head, and a deleted head by the lines", () => {
    const dir = tempDir("chain");
    write(dir, 5);
    rmSync(join(dir, "audit.head"));
    expect(checkChainFiles(dir, "audit").fault).toMatchObject({
      ...{ n: 5, file: join(dir, "audit.head") },
      fault: expect.stringMatching(/the head is missing/),
    });
    const other = tempDir("chain");
    write(other, 5);
    rmSync(join(other, "audit.ndjson"));
    expect(checkChainFiles(other, "audit").fault).toEqual({
      ...{ n: 1, file: join(other, "audit.ndjson"), line: 1 },
      fault: "truncated: lines 1 to 5 were written and are missing at the end",
    });
  });

  const cut = (file: string) => {
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n`);
  };
  test.each<[string, (file: string, dir: string) => void, RegExp]>([
    ["a cut end", (file) => cut(file), /lines 4 to 5 are missing/],
    ["a deleted file", (file) => rmSync(file), /lines 1 to 5 are missing/],
    [
      "a changed last line",
      (file) => writeFileSync(file, readFileSync(file, "utf8").replace("line 4", "line X")),
      /line 5 was changed/,
    ],
    ["a deleted head", (_file, dir) => rmSync(join(dir, "audit.head")), /record of the last line is missing/],
    [
      "an end that was cut and written again",
      (file, dir) => {
        const head = readFileSync(join(dir, "audit.head"));
        cut(file);
        rmSync(join(dir, "audit.head"));
        write(dir, 4);
        writeFileSync(join(dir, "audit.head"), head);
      },
      /line 5 was changed|lines that were written/,
    ],
  ])("%s does not heal with the next line: it is recorded and reported", (_what, change, why) => {
    const dir = tempDir("chain");
    write(dir, 5);
    const file = join(dir, "audit.ndjson");
    change(file, dir);
    const gaps: string[] = [];
    const chain = new ChainWriter({ dir, name: "audit", maxBytes: 1 << 20, gap: (gap) => gaps.push(gap) });
    chain.append({ kind: "test" });
    chain.close();
    expect(gaps).toEqual([expect.stringMatching(why)]);
    write(dir, 2);
    expect(checkChainFiles(dir, "audit").fault).toMatchObject({ fault: expect.any(String) });
    const records = readFileSync(file, "utf8").match(/"kind":"gap"/g);
    expect(records?.length).toBeGreaterThanOrEqual(1);
    // What follows the damage can still be verified.
    const { n = 0 } = checkChainFiles(dir, "audit").fault ?? {};
    if (/missing/.test(String(why))) expect(checkChainFiles(dir, "audit", n + 1).fault).toBeUndefined();
  });

  test.each<[string, (file: string) => void, string]>([
    ["deleted", (file) => rmSync(file), "lines 1 to 3 are missing"],
    ["cut", (file) => truncateSync(file, 0), "lines 1 to 3 are missing"],
    ["replaced", (file) => renameSync(`${file}.copy`, file), "lines 3 to 3 are missing"],
  ])("a file that is %s while it is open is noticed at the next line", (_what, change, why) => {
    const dir = tempDir("chain");
    const file = join(dir, "audit.ndjson");
    const gaps: string[] = [];
    const chain = new ChainWriter({ dir, name: "audit", maxBytes: 1 << 20, gap: (gap) => gaps.push(gap) });
    for (let at = 0; at < 3; at += 1) {
      if (at === 2) copyFileSync(file, `${file}.copy`);
      chain.append({ kind: "test" });
    }
    expect(gaps).toEqual([]);
    change(file);
    chain.append({ kind: "after" });
    chain.close();
    expect(gaps).toEqual([why]);
    expect(readFileSync(file, "utf8")).toMatch(/"kind":"gap".*\n.*"kind":"after"/);
    expect(checkChainFiles(dir, "audit").fault?.fault).toContain(why);
  });

  test("a crash between a line and its head is no damage", () => {
    const dir = tempDir("chain");
    write(dir, 2);
    const head = readFileSync(join(dir, "audit.head"));
    write(dir, 2);
    writeFileSync(join(dir, "audit.head"), head);
    write(dir, 1);
    expect(checkChainFiles(dir, "audit")).toEqual({ lines: 5, first_n: 1, last_n: 5 });
  });

  test("missing lines at the end are reported as truncated", () => {
    expect(damage(5, (lines) => lines.slice(0, 3))).toMatchObject({
      n: 4,
      fault: "truncated: lines 4 to 5 were written and are missing at the end",
    });
    expect(damage(5, () => [])).toMatchObject({
      n: 1,
      fault: expect.stringMatching(/^truncated: lines 1 to 5/),
    });
  });

  test("a line that a crash cut short is reported, and set aside with a line that says so", () => {
    const dir = tempDir("chain");
    write(dir, 3);
    const file = join(dir, "audit.ndjson");
    appendFileSync(file, '{"n":4,"at_ms":1,"kind":"te');
    expect(checkChainFiles(dir, "audit").fault).toMatchObject({
      n: 4,
      fault: expect.stringMatching(/^truncated: the line ends/),
    });
    write(dir, 1);
    expect(checkChainFiles(dir, "audit")).toEqual({ lines: 5, first_n: 1, last_n: 5 });
    const repair = JSON.parse(readFileSync(file, "utf8").split("\n")[3] ?? "");
    expect(repair).toMatchObject({ n: 4, kind: "repair", torn_bytes: 27 });
    expect(readFileSync(repair.aside, "utf8")).toBe('{"n":4,"at_ms":1,"kind":"te');
  });

  test("full files are kept under the number of their first line, and the chain continues", () => {
    const dir = tempDir("chain");
    write(dir, 10, 500);
    const names = readdirSync(dir).filter((name) => name.startsWith("audit-"));
    expect(names.length).toBeGreaterThan(1);
    expect(names).toContain("audit-1.ndjson");
    expect(checkChainFiles(dir, "audit")).toEqual({ lines: 10, first_n: 1, last_n: 10 });
    truncateSync(join(dir, "audit-1.ndjson"), 0);
    expect(checkChainFiles(dir, "audit").fault?.n).toBe(1);
  });

  test("a directory that cannot be written is an error, not a lost line", () => {
    const dir = tempDir("chain");
    mkdirSync(join(dir, "audit.ndjson"));
    expect(() => write(dir, 1)).toThrow();
  });
});
