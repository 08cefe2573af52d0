// glob: files by their names, the newest first.
import { symlinkSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { globTool } from "../../../src/runtime/tools/glob.ts";
import { Bench } from "./run-tool.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

const glob = async (pattern: string, path?: string) =>
  (await bench.text(globTool, { pattern, ...(path === undefined ? {} : { path }) })).split("\n");
/** The later in the list, the newer. */
const putAll = (...paths: string[]) => {
  for (const [index, path] of paths.entries()) {
    bench.put(path, "");
    utimesSync(bench.path(path), 1_000_000 + index, 1_000_000 + index);
  }
};

test("the newest come first", async () => {
  putAll("a.ts", "src/b.ts", "src/deep/c.ts", "src/d.js");
  expect(await glob("**/*.ts")).toEqual(["src/deep/c.ts", "src/b.ts", "a.ts"]);
  expect(await glob("*.ts")).toEqual(["src/deep/c.ts", "src/b.ts", "a.ts"]);
  expect(await glob("./*.ts")).toEqual(["a.ts"]);
  expect(await glob("src/*.{ts,js}")).toEqual(["src/d.js", "src/b.ts"]);
  expect(await glob("src/*.{ts,js}", ".")).toEqual(["src/d.js", "src/b.ts"]);
  expect(await glob("*.ts", "src")).toEqual(["src/deep/c.ts", "src/b.ts"]);
  expect(await glob("deep/*", "src")).toEqual(["src/deep/c.ts"]);
  expect(await glob("!*.ts")).toEqual(["src/d.js"]);
  expect(await glob(`${bench.root}/src/*.ts`)).toEqual(["src/b.ts"]);
});

test("git and packages are left out, unless they are named", async () => {
  putAll(
    ".git/config",
    "node_modules/a/package.json",
    "p/node_modules/b/package.json",
    ".demian/tmp/x",
    "package.json",
  );
  expect(await glob("**/package.json")).toEqual(["package.json"]);
  expect(await glob("node_modules/*/package.json")).toEqual(["node_modules/a/package.json"]);
  expect(await glob("**", ".git")).toEqual([".git/config"]);
  expect(await glob("**")).toEqual(["package.json"]);
});

test("secrets are not listed, nor links to them or out; other links are", async () => {
  putAll(".env", "sub/.env.local", ".env.example", "a.txt");
  symlinkSync(".env", bench.path("secret-link"));
  symlinkSync("/etc/passwd", bench.path("out-link"));
  symlinkSync("nowhere", bench.path("dangling"));
  symlinkSync("a.txt", bench.path("good-link"));
  expect((await glob("**")).sort()).toEqual([".env.example", "a.txt", "good-link"]);
});

test("a plain directory in the pattern that is a link is not followed", async () => {
  putAll("real/a.txt");
  symlinkSync("real", bench.path("link"));
  symlinkSync("/etc", bench.path("etc"));
  expect(await glob("link/*")).toEqual(["no files match"]);
  expect(await glob("etc/*")).toEqual(["no files match"]);
});

test("1000 paths at most, the newest, with how many there are", async () => {
  putAll(...Array.from({ length: 1001 }, (_, index) => `f${index}`));
  const paths = await glob("f*");
  expect(paths.slice(0, 2)).toEqual(["f1000", "f999"]);
  expect(paths).not.toContain("f0");
  expect(paths.at(-1)).toBe("[the newest 1000 of 1001 files; narrow the pattern]");
  expect(paths.filter((path) => path.startsWith("f"))).toHaveLength(1000);
});

test("names with a line break stay on one line", async () => {
  putAll("a\nb.txt", "ü.txt");
  expect(await glob("*.txt")).toEqual(["ü.txt", '"a\\nb.txt"']);
});

test("what is outside or no directory is refused, and so is a bad pattern", async () => {
  putAll("file");
  const fault = (input: object) => bench.fault(globTool, input);
  expect(await fault({ pattern: "../*" })).toMatch(/^path_outside/);
  expect(await fault({ pattern: "/etc/*" })).toMatch(/^path_outside/);
  expect(await fault({ pattern: "a/../../*" })).toMatch(/^path_outside/);
  expect(await fault({ pattern: "*", path: ".." })).toMatch(/^path_outside/);
  expect(await fault({ pattern: "*", path: "file" })).toMatch(/^not_a_directory/);
  expect(await fault({ pattern: "*", path: "none" })).toMatch(/^not_found/);
  expect(await fault({ pattern: "{a" })).toMatch(/^bad_glob/);
});

test("an abort ends it", async () => {
  putAll("a");
  const aborter = new AbortController();
  aborter.abort();
  await expect(bench.run(globTool, { pattern: "*" }, aborter.signal)).rejects.toThrow(/abort/i);
});
