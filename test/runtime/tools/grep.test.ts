// grep: both ways to search give the same, within limits, and nothing from where they may not look.
import { execFileSync } from "node:child_process";
import { closeSync, linkSync, mkdirSync, openSync, renameSync, symlinkSync, writeSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileFilter, grepTool } from "../../../src/runtime/tools/grep.ts";
import { findRipgrep, searchWithRipgrep } from "../../../src/runtime/tools/ripgrep.ts";
import type { Search, SearchResult } from "../../../src/runtime/tools/search.ts";
import { searchByWalking } from "../../../src/runtime/tools/walking-search.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const grep = (pattern: string, more: object = {}) => bench.text(grepTool, { pattern, ...more });
const fault = (pattern: string, more: object = {}) => bench.fault(grepTool, { pattern, ...more });

async function byRipgrep(search: Search): Promise<SearchResult> {
  const program = await findRipgrep(bench.root);
  if (program === undefined) throw new Error("the package with ripgrep is a dependency");
  return searchWithRipgrep(program, search);
}

const WAYS = [
  ["ripgrep", byRipgrep],
  ["the walk", searchByWalking],
] as const;

describe.each(WAYS)("searching by %s", (_, way) => {
  const search = async (
    pattern: string,
    more: { path?: string; glob?: string; maxHits?: number; signal?: AbortSignal } = {},
  ) => {
    const start = await bench.workspace.locate(more.path ?? ".");
    const { hits, isCut } = await way({
      workspace: bench.workspace,
      pattern,
      start,
      accepts: createFileFilter(start, more.glob, () => true),
      maxHits: more.maxHits ?? 200,
      signal: more.signal ?? new AbortController().signal,
    });
    return [...hits.map(({ path, line, text }) => `${path}:${line}:${text}`), ...(isCut ? ["…"] : [])];
  };

  test("hits come in the order of paths and lines", async () => {
    bench.put("b.txt", "no\nfoo 1\n\nfoo 2");
    bench.put("a/c.txt", "a foo");
    bench.put("a.txt", "FOO");
    bench.put(".hidden/x", "foo");
    bench.put("ünï/ö.txt", "foo ä");
    bench.put(".gitignore", "b.txt\n");
    expect(await search("foo")).toEqual([
      ".hidden/x:1:foo",
      "a/c.txt:1:a foo",
      "b.txt:2:foo 1",
      "b.txt:4:foo 2",
      "ünï/ö.txt:1:foo ä",
    ]);
    expect(await search("(?i)^foo$")).toEqual([".hidden/x:1:foo", "a.txt:1:FOO"]);
  });

  test.each([
    ["-e", ["a.txt:1:-e x"]],
    ["--pre=sh", ["a.txt:2:--pre=sh"]],
    ["^$", ["a.txt:3:"]],
    ["f[o]{2}\\(", ["a.txt:4:foo(bar)"]],
    ["\\bbar\\b", ["a.txt:4:foo(bar)"]],
    ["é$", ["a.txt:5:café"]],
    ["\\d+\\.\\d", ["a.txt:6:v1.2"]],
    ["nothing", []],
  ])("the pattern %s", async (pattern, hits) => {
    bench.put("a.txt", "-e x\n--pre=sh\n\nfoo(bar)\ncafé\nv1.2\n");
    expect(await search(pattern)).toEqual(hits);
  });

  test("CRLF and a byte order mark do not interfere", async () => {
    bench.put("a.txt", "\ufefffirst\r\nsecond\r\n");
    expect(await search("second$")).toEqual(["a.txt:2:second"]);
    expect(await search("first")).toEqual(["a.txt:1:first"]);
  });

  test("git, packages, build output and binary files are left out, unless they are named", async () => {
    for (const path of [
      ".git/config",
      "node_modules/a/i.js",
      "sub/node_modules/x",
      "dist/a.js",
      "x/build/y",
      "target/z",
    ]) {
      bench.put(path, "foo");
    }
    bench.put("out", "foo in a file that is called like a directory");
    bench.put("bin.dat", Buffer.from("foo\n\0\nfoo\n"));
    expect(await search("foo")).toEqual(["out:1:foo in a file that is called like a directory"]);
    expect(await search("foo", { path: "node_modules" })).toEqual(["node_modules/a/i.js:1:foo"]);
    expect(await search("foo", { path: "dist/a.js" })).toEqual(["dist/a.js:1:foo"]);
    expect(await search("foo", { path: "bin.dat" })).toEqual([]);
  });

  test("globs pick the files, from the top or from the path", async () => {
    for (const path of ["a.ts", "a.test.ts", "src/b.ts", "src/b.js", "src/deep/c.tsx"])
      bench.put(path, "foo");
    const paths = async (glob: string, path?: string) =>
      (await search("foo", { glob, ...(path === undefined ? {} : { path }) })).map(
        (hit) => hit.split(":")[0],
      );
    expect(await paths("*.ts")).toEqual(["a.test.ts", "a.ts", "src/b.ts"]);
    expect(await paths("!*.test.ts")).toEqual(["a.ts", "src/b.js", "src/b.ts", "src/deep/c.tsx"]);
    expect(await paths("src/**/*.{ts,tsx}")).toEqual(["src/b.ts", "src/deep/c.tsx"]);
    expect(await paths("deep/*", "src")).toEqual(["src/deep/c.tsx"]);
    expect(await paths("src/*.js", "src")).toEqual(["src/b.js"]);
  });

  test("secrets are in no result, by whatever name", async () => {
    for (const path of [".env", ".env.local", "sub/.env", "sub/.ENV.prod", ".env.d/x"])
      bench.put(path, "foo secret");
    bench.put(".env.example", "foo example");
    symlinkSync(".env", bench.path("link.txt"));
    linkSync(bench.path(".env"), bench.path("hard.txt"));
    symlinkSync("sub", bench.path("dir"));
    expect(await search("foo")).toEqual([".env.example:1:foo example"]);
  });

  test("links are not followed, outside or inside", async () => {
    const other = await Bench.open();
    other.put("x.txt", "foo outside");
    symlinkSync(other.root, bench.path("out"));
    symlinkSync(other.path("x.txt"), bench.path("x.txt"));
    bench.put("a/y.txt", "foo");
    symlinkSync("a", bench.path("b"));
    expect(await search("foo")).toEqual(["a/y.txt:1:foo"]);
    await other.close();
  });

  test("names with line breaks, colons and dashes are distinguished", async () => {
    for (const path of ["a\nb.txt", "c:1:d.txt", "-rf"]) bench.put(path, "foo");
    expect(await search("foo")).toEqual(["-rf:1:foo", "a\nb.txt:1:foo", "c:1:d.txt:1:foo"]);
  });

  test("a pipe in the tree is passed by", async () => {
    execFileSync("mkfifo", [bench.path("pipe")]);
    bench.put("z", "foo");
    expect(await search("foo")).toEqual(["z:1:foo"]);
  });

  test("at most the requested number, of a million", async () => {
    bench.put("a.txt", "foo\n".repeat(1_000_000));
    const hits = await search("foo", { maxHits: 3 });
    expect(hits).toEqual(["a.txt:1:foo", "a.txt:2:foo", "a.txt:3:foo", "…"]);
    expect(await search("foo", { path: "a.txt", maxHits: 1 })).toEqual(["a.txt:1:foo", "…"]);
  });

  test("exactly as many as asked for are not called cut", async () => {
    bench.put("a.txt", "foo\nfoo\n");
    expect(await search("foo", { maxHits: 2 })).toEqual(["a.txt:1:foo", "a.txt:2:foo"]);
  });

  test("long lines are cut between characters, and lines after them are counted right", async () => {
    bench.put("a.txt", `foo ${"ä".repeat(1_000_000)}\nfoo end\n`);
    const [first = "", second] = await search("foo");
    expect(first).toMatch(/^a\.txt:1:foo ä+…$/);
    expect(Buffer.byteLength(first)).toBeLessThan(450);
    expect(second).toBe("a.txt:2:foo end");
  });

  test("a hit at the end of a big file is found", async () => {
    const fd = openSync(bench.path("big.txt"), "w");
    const block = Buffer.from("some line of text that is not it\n".repeat(10_000));
    for (let count = 0; count < 30; count += 1) writeSync(fd, block);
    writeSync(fd, "needle\n");
    closeSync(fd);
    expect(await search("needle")).toEqual(["big.txt:300001:needle"]);
  });

  test.each(["(foo", "[z", "a{2,1}", "*x"])("the bad pattern %s is reported", async (pattern) => {
    bench.put("a.txt", "x");
    await expect(search(pattern)).rejects.toMatchObject({ code: "bad_pattern" });
  });

  test("an abort ends it", async () => {
    bench.put("a.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n".repeat(1000));
    const aborter = new AbortController();
    aborter.abort(new Error("enough"));
    await expect(search("a", { signal: aborter.signal })).rejects.toThrow("enough");
  });
});

describe("the walk's own dangers", () => {
  const searchOf = async (pattern: string, signal: AbortSignal): Promise<Search> => ({
    workspace: bench.workspace,
    pattern,
    start: await bench.workspace.locate("."),
    accepts: () => true,
    maxHits: 10,
    signal,
  });

  test("a pattern that would take forever is stopped, and leaves no thread", async () => {
    bench.put("a.txt", `${"a".repeat(50)}!\n`);
    const search = await searchOf("^(a+)+$", new AbortController().signal);
    await expect(searchByWalking(search, 100)).rejects.toMatchObject({ code: "pattern_too_slow" });
  });

  test("an abort in the middle of such a pattern ends it at once", async () => {
    bench.put("a.txt", `${"a".repeat(50)}!\n`);
    const aborter = new AbortController();
    const search = await searchOf("^(a+)+$", aborter.signal);
    const running = searchByWalking({
      ...search,
      accepts: () => {
        setImmediate(() => aborter.abort(new Error("enough")));
        return true;
      },
    });
    await expect(running).rejects.toThrow("enough");
  });
});

describe("ripgrep's own dangers", () => {
  test("a configuration in the environment is not read", async () => {
    bench.put("config", "--files\n");
    bench.put("a.txt", "foo\n");
    process.env["RIPGREP_CONFIG_PATH"] = bench.path("config");
    try {
      expect(await grep("foo")).toBe("a.txt:1:foo");
    } finally {
      delete process.env["RIPGREP_CONFIG_PATH"];
    }
  });

  test("one inside the workspace is never run", async () => {
    bench.put("bin/rg", "#!/bin/sh\n");
    execFileSync("chmod", ["+x", bench.path("bin/rg")]);
    const found = await findRipgrep(bench.root, `${bench.path("bin")}:.:bin`);
    expect(found).not.toBe(bench.path("bin/rg"));
  });

  test("its output about files is not trusted: the line is read again from inside", async () => {
    bench.put("a.txt", "inside\n");
    bench.put(
      "fake",
      "#!/bin/sh\nprintf './a.txt\\0001:0:inside\\n./a.txt\\0001:0:forged\\n./../x\\0001:0:out\\n'\n",
    );
    execFileSync("chmod", ["+x", bench.path("fake")]);
    const start = await bench.workspace.locate(".");
    const signal = new AbortController().signal;
    const search = {
      workspace: bench.workspace,
      pattern: "x",
      start,
      accepts: () => true,
      maxHits: 9,
      signal,
    };
    expect((await searchWithRipgrep(bench.path("fake"), search)).hits).toEqual([
      { path: "a.txt", line: 1, text: "inside" },
    ]);
  });

  test("one that cannot be run is reported", async () => {
    const start = await bench.workspace.locate(".");
    const signal = new AbortController().signal;
    const search = {
      workspace: bench.workspace,
      pattern: "x",
      start,
      accepts: () => true,
      maxHits: 9,
      signal,
    };
    await expect(searchWithRipgrep(bench.path("none"), search)).rejects.toMatchObject({
      code: "search_failed",
    });
  });

  test("an abort kills it", async () => {
    bench.put("fake", "#!/bin/sh\necho $$ > pid\nexec sleep 1000\n");
    execFileSync("chmod", ["+x", bench.path("fake")]);
    const start = await bench.workspace.locate(".");
    const aborter = new AbortController();
    const search = {
      workspace: bench.workspace,
      pattern: "x",
      start,
      accepts: () => true,
      maxHits: 9,
      signal: aborter.signal,
    };
    const running = searchWithRipgrep(bench.path("fake"), search);
    const pid = await until(() => Number(bench.get("pid")) || undefined);
    aborter.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });
});

describe("the tool", () => {
  test("200 matches at most, and it says that there are more", async () => {
    bench.put("a.txt", "foo\n".repeat(201));
    const text = await grep("foo");
    expect(text.split("\n").filter((line) => line.startsWith("a.txt:"))).toHaveLength(200);
    expect(text).toMatch(/\[the first 200 matches; there are more: narrow/);
    bench.put("a.txt", "foo\n".repeat(200));
    expect(await grep("foo")).not.toContain("there are more");
  });

  test("no match is an answer, not a failure", async () => {
    expect(await bench.run(grepTool, { pattern: "foo" })).toEqual({ ok: true, content: "no matches" });
  });

  test("more than 32 KB are kept aside", async () => {
    bench.put("a.txt", `foo ${"x".repeat(350)}\n`.repeat(150));
    const { content, metadata } = await bench.run(grepTool, { pattern: "foo" });
    expect(metadata).toMatchObject({ truncated: true, outputFile: ".demian/tmp/output-call_1.txt" });
    expect(content).toContain("the full output is in .demian/tmp/output-call_1.txt");
    expect(bench.get(".demian/tmp/output-call_1.txt").split("\n")).toHaveLength(150);
  });

  test("what is outside, missing, secret, a pipe, or of two lines is refused", async () => {
    bench.put(".env", "foo");
    execFileSync("mkfifo", [bench.path("pipe")]);
    expect(await fault("foo", { path: ".." })).toMatch(/^path_outside/);
    expect(await fault("foo", { path: "/etc" })).toMatch(/^path_outside/);
    expect(await fault("foo", { path: "none" })).toMatch(/^not_found/);
    expect(await fault("foo", { path: ".env" })).toMatch(/^protected/);
    expect(await fault("foo", { path: "pipe" })).toMatch(/^not_a_file/);
    expect(await fault("foo\nbar")).toMatch(/^bad_pattern/);
    expect(await fault("foo", { glob: "{a" })).toMatch(/^bad_glob/);
    expect(await fault("(foo")).toMatch(/^bad_pattern: the pattern is not valid/);
  });

  test("where ripgrep cannot run, because the directory was renamed, the walk finds it", async () => {
    bench.put("a.txt", "foo\n");
    const { value, plan } = await bench.plan(grepTool, { pattern: "foo" });
    renameSync(bench.root, `${bench.root}-moved`);
    const result = await grepTool.execute(value, plan, bench.context());
    renameSync(`${bench.root}-moved`, bench.root);
    expect(result.content).toBe("a.txt:1:foo");
  });

  test("the plan names the directory that is read", async () => {
    mkdirSync(bench.path("src"));
    const { plan } = await bench.plan(grepTool, { pattern: "foo", path: "src/" });
    expect(plan).toEqual({
      title: "grep: foo in src",
      targets: [{ kind: "path", access: "read", lexical: "src", real: "src" }],
    });
  });
});

async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    try {
      const found = look();
      if (found !== undefined) return found;
    } catch {
      // not there yet
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
