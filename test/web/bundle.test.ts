// The built dashboard: small, complete, and without external addresses or code made from text.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWebFiles } from "../../src/servers/http/web/files.ts";

const MAX_GZIP_BYTES = 150_000;
/** XML namespaces, which are never fetched. */
const NAMESPACES = [
  "http://www.w3.org/2000/svg",
  "http://www.w3.org/1999/xhtml",
  "http://www.w3.org/1998/Math/MathML",
];
/** In developer messages of libraries; nothing is loaded from there, and the policy would block it. */
const SAID = [
  "https://github.com/highlightjs/highlight.js/issues/2277",
  "https://github.com/highlightjs/highlight.js/wiki/security",
  "https://github.com/markedjs/marked.",
];
/** The address of the dashboard itself, in texts. */
const OWN = /^http:\/\/127\.0\.0\.1\b/;

let out: string;
let files: { name: string; text: string }[];
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), "bl-bundle-"));
  const built = spawnSync(process.execPath, ["scripts/build-web.mjs", "--out", out, "--quiet"], {
    encoding: "utf8",
  });
  expect([built.status, built.stderr]).toEqual([0, ""]);
  files = readdirSync(out).map((name) => ({ name, text: readFileSync(join(out, name), "utf8") }));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

test(`all of it is at most ${MAX_GZIP_BYTES / 1000} kB, gzipped`, () => {
  const sizes = files.map(({ name, text }) => ({ name, gzip: gzipSync(text, { level: 9 }).length }));
  expect(
    sizes.reduce((sum, { gzip }) => sum + gzip, 0),
    JSON.stringify(sizes),
  ).toBeLessThanOrEqual(MAX_GZIP_BYTES);
});

test("every file is one that the daemon serves, and every file the page names exists", () => {
  const served = createWebFiles(out)();
  expect([...served.keys()].sort()).toEqual(
    files.map(({ name }) => (name === "index.html" ? "/" : `/web/${name}`)).sort(),
  );
  const page = String(served.get("/")?.bytes);
  const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path = ""]) => path);
  expect(named.some((path) => /^\/web\/main-[A-Z0-9]{8}\.js$/.test(path))).toBe(true);
  expect(named.some((path) => /^\/web\/main-[A-Z0-9]{8}\.css$/.test(path))).toBe(true);
  expect(named.filter((path) => !path.startsWith("#") && !served.has(path))).toEqual([]);
});

test("the page has no script or style of its own, which the policy would not run", () => {
  const page = files.find(({ name }) => name === "index.html")?.text ?? "";
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:/i);
});

test("it contains no external address", () => {
  const found = files.flatMap(({ name, text }) =>
    [...text.matchAll(/(?:https?|wss?):\/\/[\w.-]+[^\s"'`<>)\\]*/g)].map(([url]) => ({ name, url })),
  );
  expect(found.filter(({ url }) => ![...NAMESPACES, ...SAID].includes(url) && !OWN.test(url))).toEqual([]);
  for (const { name, text } of files) {
    if (name.endsWith(".css")) expect(text, name).not.toMatch(/@import|url\((?!["']?data:)/);
  }
});

test("nothing turns text into code, and it contains no source map", () => {
  for (const { name, text } of files.filter(({ name }) => name.endsWith(".js"))) {
    expect(text, name).not.toMatch(/\beval\s*\(|\bnew Function\b|[^.\w]Function\s*\(["'`]|sourceMappingURL/);
    expect(text, name).not.toMatch(/document\.write|\binsertAdjacentHTML\b|setTimeout\(["'`]/);
  }
});
