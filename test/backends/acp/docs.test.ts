// The ACP section of docs/agent-events.md cannot drift, and the translator does no I/O: both are read from the source.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importsOf, reachableFrom, readSources } from "../../docs/sources.ts";
import { ROOT } from "../../support/root.ts";
import { readTraces } from "./traces.ts";

const FOLDER = "src/backends/acp";
const src = readSources(ROOT, "src", [".ts"]);
const files = reachableFrom(`${FOLDER}/translate.ts`, src);
const own = src.filter(({ path }) => path.startsWith(FOLDER));
const page = readFileSync(join(ROOT, "docs/agent-events.md"), "utf8");
const section = page.split(/^## ACP$/m)[1]?.split(/^## /m)[0] ?? "";
const missing = (names: string[]): string[] =>
  [...new Set(names)].filter((name) => !section.includes(`\`${name}\``));

test("every update, request and notification in the recorded traffic is in the page", () => {
  const seen = readTraces().flatMap(({ steps }) =>
    steps.flatMap(({ dir, msg: { method, params } }) => {
      if (dir !== "in" || method === undefined) return [];
      const update = params?.["update"] as { sessionUpdate?: string } | undefined;
      return method === "session/update" ? [update?.sessionUpdate ?? ""] : [method];
    }),
  );
  expect(new Set(seen).size).toBeGreaterThan(12);
  expect(missing(seen)).toEqual([]);
});

test("every category of notice that the backend emits is in the page", () => {
  const code = own.map(({ text }) => text).join("\n");
  const made = [...code.matchAll(/(?:category: |reportNotice\(\s*\w+(?:\.\w+)?, (?:\w+ \? )?)"([a-z_]+)"/g)];
  const names = made.map(([, name = ""]) => name);
  expect(names).toEqual(expect.arrayContaining(["plan", "stalled", "session_lost", "late_result"]));
  expect(missing(names)).toEqual([]);
});

test("the translator loads nothing that can wait, read or write, and reads no clock", () => {
  expect(files.length).toBeGreaterThan(10);
  const bare = files.flatMap((source) =>
    importsOf(source)
      .filter(({ isOurs, isTypeOnly }) => !isOurs && !isTypeOnly)
      .map(({ target }) => target),
  );
  expect(bare.filter((name) => name.startsWith("node:"))).toEqual([]);
  const impure = /\b(Date\.now|performance\.\w|process\.\w|console\.\w|Math\.random|randomUUID|setTimeout)/;
  const pure = files.filter(({ path }) => path.startsWith(FOLDER));
  expect(pure.filter(({ text }) => impure.test(text)).map(({ path }) => path)).toEqual([]);
});
