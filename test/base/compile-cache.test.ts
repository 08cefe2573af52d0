// If Node keeps compiled code, our programs use it, in a directory of the user's. Also run on Node 24
// (scripts/test-node24.mjs), which does.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../backends/temp-dir.ts";
import { ROOT } from "../support/root.ts";

const canKeep = "enableCompileCache" in module;

function startWith(env: Record<string, string>): string {
  const options = { env: { PATH: process.env["PATH"], ...env }, encoding: "utf8" } as const;
  return execFileSync(process.execPath, [join(ROOT, "dist/sm.js"), "--version"], options);
}

test.each([
  ["XDG_CACHE_HOME", "blemees/compile-cache"],
  ["HOME", ".cache/blemees/compile-cache"],
])("with %s compiled code is kept below it, if this Node can", (variable, directory) => {
  const base = tempDir("compile-cache");
  expect(startWith({ [variable]: base })).toMatch(/^sm \d/);
  expect(existsSync(join(base, directory))).toBe(canKeep);
});

test("without a home directory nothing is kept, and the program starts", () => {
  const temporary = tempDir("compile-cache");
  expect(startWith({ TMPDIR: temporary })).toMatch(/^sm \d/);
  expect(readdirSync(temporary)).toEqual([]);
});
