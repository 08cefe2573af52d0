// The stylesheet and the page use the same names: no unused rule, no undefined color.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const WEB = fileURLToPath(new URL("../../../web", import.meta.url));
/** Classes that others write: highlight.js by way of client/view/highlight.ts, and uPlot. */
const OTHERS = /^(hl-|u-|uplot$)/;

const css = textOf("style", /\.css$/)
  .replace(/\/\*[\s\S]*?\*\//g, "")
  .replace(/url\((?:"[^"]*"|[^)]*)\)|@import[^;]*;/g, "");
const code =
  textOf("src", /\.ts$/).replace(/^\s*\/\/.*$/gm, "") + readFileSync(join(WEB, "index.html"), "utf8");

function textOf(directory: string, name: RegExp): string {
  const files = readdirSync(join(WEB, directory), { recursive: true, encoding: "utf8" }).sort();
  return files
    .filter((file) => name.test(file))
    .map((file) => readFileSync(join(WEB, directory, file), "utf8"))
    .join("\n");
}

/** The names in class attributes, with those that a place in them chooses from, and of calls of classList. */
function drawnClasses(): Set<string> {
  const attributes = [...code.matchAll(/\bclass=(?:"((?:[^"$]|\$\{[^}]*\})*)"|\$\{([^}]*)\})/g)];
  const calls = [...code.matchAll(/classList\.\w+\(([^)]*)\)|(?:const classes|class \w*) = \[([^\]]*)\]/g)];
  const texts = [...attributes, ...calls].map(([, one, other]) => one ?? other ?? "");
  return new Set(texts.flatMap((text) => text.match(/[a-z][a-z0-9-]*/g) ?? []));
}

test("every class that has a style is drawn somewhere", () => {
  const styled = new Set([...css.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = ""]) => name));
  const drawn = drawnClasses();
  expect([...styled].filter((name) => !OTHERS.test(name) && !drawn.has(name))).toEqual([]);
});

test("every color and size that is used is defined, and every one that is defined is used", () => {
  const said = new Set([...css.matchAll(/(--[\w-]+)\s*:/g)].map(([, name = ""]) => name));
  const used = new Set([...`${css}${code}`.matchAll(/(?:var\(|")(--[\w-]+)/g)].map(([, name = ""]) => name));
  // Set by visible-height.ts.
  said.add("--visible-height");
  expect({
    unused: [...said].filter((name) => !used.has(name)),
    unsaid: [...used].filter((name) => !said.has(name)),
  }).toEqual({ unused: [], unsaid: [] });
});

test("every attribute that a style selects is written by the page", () => {
  const asked = new Set([...css.matchAll(/\[(data-[a-z-]+|aria-[a-z-]+)/g)].map(([, name = ""]) => name));
  const isWritten = (name: string): boolean =>
    code.includes(name) || code.includes(`dataset["${name.replace("data-", "")}"]`);
  expect([...asked].filter((name) => !isWritten(name))).toEqual([]);
});
