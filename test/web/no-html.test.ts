// Nothing in the page turns text into markup or code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const WEB = fileURLToPath(new URL("../../web", import.meta.url));
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|unsafeHTML|unsafeSVG|unsafeStatic|document\.write|createContextualFragment|srcdoc|\beval\(|new Function|styleMap|\sstyle=|DOMParser|createPolicy|localStorage\.setItem\([^)]*token/i;

const sources = readdirSync(WEB, { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.(ts|html)$/.test(name),
);

test("no source of the page uses what makes markup or code out of text", () => {
  expect(sources.length).toBeGreaterThan(30);
  const found = sources.flatMap((name) =>
    readFileSync(join(WEB, name), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        FORBIDDEN.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line)
          ? [`${name}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(found).toEqual([]);
});

test("the page itself has no inline script or style", () => {
  const page = readFileSync(join(WEB, "index.html"), "utf8");
  expect(page).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\son\w+=|https?:\/\//i);
});
