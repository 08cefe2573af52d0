// read_file: pages, limits, and what it does not read.
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, symlinkSync, writeSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFileTool } from "../../../src/runtime/tools/read-file.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const read = (path: string, page: object = {}) => bench.text(readFileTool, { path, ...page });
const fault = (path: string, page: object = {}) => bench.fault(readFileTool, { path, ...page });

describe("pages", () => {
  test("a short file comes whole, its lines numbered", async () => {
    bench.put("a.txt", "one\n\n\tthree\n");
    expect(await read("a.txt")).toBe("     1\tone\n     2\t\n     3\t\tthree");
  });

  test("the last line needs no end", async () => {
    bench.put("a.txt", "one\ntwo");
    expect(await read("a.txt")).toBe("     1\tone\n     2\ttwo");
  });

  test("an empty file is reported as such", async () => {
    bench.put("a.txt", "");
    expect(await read("a.txt")).toBe("[the file is empty]");
  });

  test("2000 lines are returned at once, with where to continue for the rest", async () => {
    bench.put("a.txt", Array.from({ length: 2001 }, (_, index) => `line ${index + 1}\n`).join(""));
    const first = await read("a.txt");
    expect(first).toContain("  2000\tline 2000\n\n[lines 1-2000 of 2001; continue with offset=2001]");
    expect(await read("a.txt", { offset: 2001 })).toBe("  2001\tline 2001\n\n[lines 2001-2001 of 2001]");
    expect(await read("a.txt", { offset: 10, limit: 2 })).toBe(
      "    10\tline 10\n    11\tline 11\n\n[lines 10-11 of 2001; continue with offset=12]",
    );
  });

  test("an offset past the end says how many lines there are", async () => {
    bench.put("a.txt", "one\ntwo\n");
    expect(await fault("a.txt", { offset: 3 })).toMatch(/^past_end: a\.txt has 2 lines; offset=3/);
  });

  test("all pages together are the file, whatever its lines", async () => {
    const lines = Array.from({ length: 997 }, (_, index) => "ä🎉x".repeat(index % 400));
    bench.put("a.txt", lines.join("\n"));
    const seen: string[] = [];
    for (let offset = 1; offset <= lines.length; ) {
      const page = (await read("a.txt", { offset, limit: 100 })).split("\n\n[lines")[0] ?? "";
      const texts = page.split("\n").map((line) => line.slice(line.indexOf("\t") + 1));
      seen.push(...texts);
      offset += texts.length;
    }
    expect(seen).toEqual(lines);
  });

  test("a page is never larger than 256 KB", async () => {
    bench.put("a.txt", `${"x".repeat(3000)}\n`.repeat(300));
    const page = await read("a.txt");
    expect(Buffer.byteLength(page)).toBeLessThan(260 * 1024);
    expect(page).toMatch(/\[lines 1-87 of 300; continue with offset=88\]$/);
  });

  test("a long line is cut between characters, with how much is missing", async () => {
    bench.put("a.txt", `x${"ä".repeat(5000)}\nnext\n`);
    const page = await read("a.txt");
    expect(page).toMatch(/^ {5}1\txä+… \[line truncated; 6001 more bytes\]\n {5}2\tnext$/);
    expect(page).not.toContain("\ufffd");
  });

  test("a byte order mark and CRLF are not shown, but CRLF is reported", async () => {
    bench.put("a.txt", "\ufeffone\r\ntwo\r\n");
    expect(await read("a.txt")).toMatch(/^ {5}1\tone\n {5}2\ttwo\n\n\[lines end with CRLF: .*\\r\\n.*\]$/);
  });

  test("bytes that are not UTF-8 are shown as such and reported", async () => {
    bench.put("a.txt", Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    expect(await read("a.txt")).toContain("caf\ufffd\n\n[invalid UTF-8 is shown");
  });

  test.each([
    [{ path: "" }, /\/path/],
    [{}, /\/path: required/],
    [{ path: "a", offset: 0 }, /\/offset/],
    [{ path: "a", limit: 2001 }, /\/limit/],
    [{ path: "a", ofset: 1 }, /\/ofset: unexpected property/],
  ])("the input %j is refused", (input, message) => {
    expect(readFileTool.check(input)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  test("null for what is left out is fine", () => {
    const input = { path: "a", offset: null, limit: null };
    expect(readFileTool.check(input)).toEqual({ ok: true, value: { path: "a" } });
  });
});

describe("big files", () => {
  test("exactly 1 MB is read, one byte more only by pages", async () => {
    bench.put("fits.txt", "x\n".repeat(512 * 1024));
    bench.put("more.txt", `${"x\n".repeat(512 * 1024)}y`);
    expect(await read("fits.txt")).toContain("[lines 1-2000 of 524288;");
    expect(await fault("more.txt")).toMatch(
      /^too_large: more\.txt has 1048577 bytes.*offset and limit.*grep/,
    );
    expect(await read("more.txt", { offset: 524289, limit: 1 })).toContain("524289\ty");
  });

  test("the last of a million lines is found", async () => {
    bench.put("a.txt", Array.from({ length: 1_000_000 }, (_, index) => `${index + 1}\n`).join(""));
    const page = await read("a.txt", { offset: 999_999, limit: 2 });
    expect(page).toBe("999999\t999999\n1000000\t1000000\n\n[lines 999999-1000000 of 1000000]");
  });

  test("100 MB in one line take no memory", async () => {
    const fd = openSync(bench.path("a.txt"), "w");
    const block = Buffer.alloc(10 * 1024 * 1024, "x");
    for (let count = 0; count < 10; count += 1) writeSync(fd, block);
    closeSync(fd);
    const before = process.memoryUsage();
    const page = await read("a.txt", { offset: 1, limit: 10 });
    const after = process.memoryUsage();
    expect(page).toMatch(/… \[line truncated; 104853600 more bytes\]$/);
    const grown = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
    expect(grown).toBeLessThan(30 * 1024 * 1024);
  });

  test("an abort ends it at once", async () => {
    bench.put("a.txt", "x\n".repeat(10));
    const aborter = new AbortController();
    aborter.abort();
    await expect(bench.run(readFileTool, { path: "a.txt" }, aborter.signal)).rejects.toThrow(/abort/i);
  });
});

describe("what is not read", () => {
  test("binary files, whatever their size", async () => {
    bench.put("a.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]));
    bench.put("utf16.txt", Buffer.from("\ufeffhello", "utf16le"));
    const fd = openSync(bench.path("big.bin"), "w");
    ftruncateSync(fd, 5 * 1024 * 1024 * 1024);
    closeSync(fd);
    expect(await fault("a.png")).toMatch(/^binary: a\.png is binary/);
    expect(await fault("utf16.txt")).toMatch(/^binary: .*UTF-16/);
    expect(await fault("big.bin", { offset: 1, limit: 1 })).toMatch(/^binary/);
  });

  test("directories, pipes, what is missing, and what is outside", async () => {
    bench.put("dir/a", "");
    execFileSync("mkfifo", [bench.path("pipe")]);
    expect(await fault("dir")).toMatch(/^not_a_file: dir is a directory/);
    expect(await fault("pipe")).toMatch(/^not_a_file: pipe is a pipe/);
    expect(await fault("none")).toMatch(/^not_found: none does not exist/);
    expect(await fault("/dev/zero")).toMatch(/^path_outside/);
    expect(await fault("../x")).toMatch(/^path_outside/);
  });

  test("secrets, by their name and by a link to them; templates are read", async () => {
    bench.put(".env", "KEY=1");
    bench.put("sub/.env.local", "KEY=1");
    bench.put(".env.example", "KEY=");
    symlinkSync(".env", bench.path("plain.txt"));
    symlinkSync("../plain.txt", bench.path("sub/chain.txt"));
    bench.put("harmless", "x");
    symlinkSync("harmless", bench.path(".env.prod"));
    for (const path of [".env", "./.env", "sub/.env.local", "plain.txt", "sub/chain.txt", ".env.prod"]) {
      expect(await fault(path)).toMatch(/^protected: .* may contain secrets/);
    }
    expect(await read(".env.example")).toBe("     1\tKEY=");
  });

  test("another file than the allowed one", async () => {
    bench.put("a.txt", "allowed");
    bench.put("b.txt", "not allowed");
    const { value, plan } = await bench.plan(readFileTool, { path: "a.txt" });
    expect(plan.targets).toEqual([{ kind: "path", access: "read", lexical: "a.txt", real: "a.txt" }]);
    execFileSync("ln", ["-sf", "b.txt", bench.path("a.txt")]);
    await expect(readFileTool.execute(value, plan, bench.context())).rejects.toThrow(/was not approved/);
  });
});

test("names with a line break are read, and shown on one line", async () => {
  bench.put("a\nb.txt", "x");
  const { plan } = await bench.plan(readFileTool, { path: "a\nb.txt" });
  expect(plan.title).toBe('read_file: "a\\nb.txt"');
  expect(await read("a\nb.txt")).toBe("     1\tx");
});
