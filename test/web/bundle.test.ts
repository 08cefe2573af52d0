// The built dashboard: small, complete, and without external addresses or code made from text.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWebFiles } from "../../src/servers/http/web/files.ts";

/** What the browser loads before it shows anything. */
const MAX_FIRST_BYTES = 140_000;
/** With all that is loaded when it is opened: the charts, the Changes tab. */
const MAX_GZIP_BYTES = 200_000;
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

test(`at most ${MAX_FIRST_BYTES / 1000} kB are loaded first, and all of it is at most ${MAX_GZIP_BYTES / 1000} kB, gzipped`, () => {
  const sizes = files.map(({ name, text }) => ({ name, gzip: gzipSync(text, { level: 9 }).length }));
  const first = findFirstLoaded();
  const sum = (names: (name: string) => boolean): number =>
    sizes.filter(({ name }) => names(name)).reduce((total, { gzip }) => total + gzip, 0);
  expect([...first].filter((name) => /^(plot|changes)-/.test(name))).toEqual([]);
  expect(
    sum((name) => first.has(name)),
    JSON.stringify(sizes),
  ).toBeLessThanOrEqual(MAX_FIRST_BYTES);
  expect(
    sum(() => true),
    JSON.stringify(sizes),
  ).toBeLessThanOrEqual(MAX_GZIP_BYTES);
});

/** The page, what it names, and what those import at once. */
function findFirstLoaded(): Set<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    const file = files.find((one) => one.name === name);
    if (file === undefined || found.has(name)) return;
    found.add(name);
    const named = [
      ...file.text.matchAll(/(?:src|href)="\/web\/([^"]+)"|(?:\bfrom|\bimport) ?"\.\/([^"]+)"/g),
    ];
    for (const [, page, script] of named) add(page ?? script ?? "");
  };
  add("index.html");
  return found;
}

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
