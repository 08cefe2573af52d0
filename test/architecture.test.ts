// The rules of docs/architecture.md and STYLE that a machine can hold. Each rule is also fed a bad snippet, so
// that a checker which has gone blind is found.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findLayerFaults, readLayers } from "./docs/layers.ts";
import { findCycles, importsOf, reachableFrom, readSources, type Source } from "./docs/sources.ts";
import { findImportEffects } from "./docs/top-level.ts";
import { sortTests } from "./lanes.ts";
import { ROOT } from "./support/root.ts";
import { isVerbName } from "./verbs.ts";

const MAX_LINES = 400;
const STARTERS = /^src\/(bin\/[\w-]+|(store|observe)\/worker)\.ts$/;
/** Also as a part of a word, such as `codex_retry` or `claudeCode`. */
const VENDOR =
  /claude|codex|anthropic|openai|gemini|(?<!#)opencode|demian|copilot|qwen|kimi|deepseek|(?<![a-z])acp(?![a-z])/i;
/** Files that may name one, and why. */
const VENDOR_EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  [
    "src/observe/schema.ts",
    "the views codex_tool_events and codex_turn_events are read by session managers, and part of old databases",
  ],
]);
const WIRE = /\b(blemees-?[12]|ndjson|stream-json|json-?rpc|https?|websocket|unix socket)\b/i;
/** Names of files and of the home directory: they compute, they do not wait, read or write. */
const PURE_NODE = new Set(["node:path", "node:os"]);
const IMPURE =
  /\b(Date\.now|performance\.\w|process\.\w|console\.\w|Math\.random|setTimeout|setInterval|fetch\()/;

const src = readSources(ROOT, "src", [".ts"]);
const layers = readLayers(readFileSync(`${ROOT}/docs/architecture.md`, "utf8"));

const bad = (path: string, text: string): Source => ({ path, text });

/** Its first use loads a large part of Node (7 ms), for which the first client that needs it would wait. */
const SLOW_CLOCK = /(?<!`)\bperformance\.\w/;
const DAEMON = /^src\/(base|protocol|store|observe|backends|sessions|servers|daemon)\//;

test("the daemon reads the monotonic clock with `readMonotonicMs`", () => {
  const wrong = src.filter(({ path, text }) => DAEMON.test(path) && SLOW_CLOCK.test(text));
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

describe("layers", () => {
  test("the table has a row for every folder, so the test below means something", () => {
    expect([...layers.keys()]).toEqual(
      expect.arrayContaining([...new Set(src.map(({ path }) => path.split("/")[1]))]),
    );
    expect(src.length).toBeGreaterThan(100);
  });

  test("no file imports a layer that the table does not allow", () => {
    expect(findLayerFaults(src, layers)).toEqual([]);
  });

  test.each([
    ["src/base/x.ts", 'import type { A } from "../protocol/events.ts";'],
    ["src/sessions/x.ts", 'import { createBackends } from "../backends/registry.ts";'],
    ["src/sessions/x.ts", 'import { claude } from "../backends/claude/index.ts";'],
    ["src/backends/demo/x.ts", 'import { a } from "../claude/index.ts";'],
    ["src/client/x.ts", 'import { SessionHub } from "../sessions/index.ts";'],
    ["src/daemon/x.ts", 'import { connect } from "../client/index.ts";'],
    ["src/cli/wire/x.ts", 'import { a } from "../../runtime/index.ts";'],
    ["src/cli/demian/x.ts", 'import { a } from "../../sessions/index.ts";'],
    ["src/cli/demian/tui/x.ts", 'import { a } from "../../../backends/registry.ts";'],
    ["src/servers/x.ts", 'const a = await import("../store/index.ts");'],
    ["src/newcomer/x.ts", "export const a = 1;"],
  ])("%s with `%s` is a fault", (path, text) => {
    expect(findLayerFaults([bad(path, text)], layers)).toHaveLength(1);
  });

  test.each([
    ["src/sessions/x.ts", 'import type { Run } from "../backends/types.ts";'],
    ["src/backends/demo/x.ts", 'import { a } from "../argv.ts";'],
    ["src/backends/registry.ts", 'import { a } from "./claude/index.ts";'],
    ["src/cli/demian/x.ts", 'import { a } from "../../runtime/index.ts";'],
    ["src/cli/demian/tui/x.ts", 'import { a } from "../../../sessions/index.ts";'],
    ["src/cli/demian/tui/x.ts", 'import type { Run } from "../../../backends/types.ts";'],
  ])("%s with `%s` is allowed", (path, text) => {
    expect(findLayerFaults([bad(path, text)], layers)).toEqual([]);
  });
});

describe("files", () => {
  test(`no file of src, scripts or web has more than ${MAX_LINES} lines`, () => {
    const files = ["src", "scripts", "web"]
      .filter((folder) => existsSync(`${ROOT}/${folder}`))
      .flatMap((folder) => readSources(ROOT, folder, [".ts", ".mjs", ".js", ".c", ".css", ".html"]));
    const long = files.filter(({ text }) => text.split("\n").length - 1 > MAX_LINES);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test("our own imports name a file that exists, with its ending", () => {
    const paths = new Set(src.map(({ path }) => path));
    const lost = src.flatMap((source) =>
      importsOf(source)
        .filter(({ isOurs, target }) => isOurs && !paths.has(target))
        .map(({ target }) => `${source.path}: ${target}`),
    );
    expect(lost).toEqual([]);
  });

  test("there are no cycles of imports, and the checker sees one", () => {
    expect(findCycles(src)).toEqual([]);
    const pair = [
      bad("src/a/x.ts", 'import { y } from "./y.ts";'),
      bad("src/a/y.ts", 'export { x } from "./x.ts";'),
    ];
    expect(findCycles(pair)).toEqual([["src/a/x.ts", "src/a/y.ts", "src/a/x.ts"]]);
  });

  test("exports are named, and a door lists what it gives", () => {
    const unnamed = /^export (default\b|\*)|\bas default\b/m;
    expect(src.filter(({ text }) => unnamed.test(text)).map(({ path }) => path)).toEqual([]);
    for (const text of ["export default 1;", 'export * from "./x.ts";', "export { a as default };"]) {
      expect(unnamed.test(`${text}\n`)).toBe(true);
    }
  });
});

describe("names", () => {
  test("an exported type name has one meaning in a layer, and the checker sees two", () => {
    expect(findSharedTypeNames(src)).toEqual([]);
    const pair = [
      bad("src/a/x.ts", "export interface Place {"),
      bad("src/a/b/y.ts", "export type Place = 1;"),
    ];
    expect(findSharedTypeNames(pair)).toEqual(["a: Place"]);
    expect(
      findSharedTypeNames([bad("src/a/x.ts", "export type A = 1;"), bad("src/b/x.ts", "export type A = 1;")]),
    ).toEqual([]);
  });

  test("a function is not named by a participle, a bare adjective, or what it returns of something", () => {
    expect(src.flatMap(findUnnamedActions)).toEqual([]);
    const wrong = ["gated", "told", "done", "busy", "within", "nameOf", "tooOld", "notFound"];
    const right = ["isAllowed", "feed", "readOneOf", "tooOldError", "notRunningText", "notify"];
    const text = [...wrong, ...right].map((name) => `export async function ${name}(): void {}`).join("\n");
    expect(findUnnamedActions(bad("src/a/x.ts", text))).toEqual(wrong.map((name) => `src/a/x.ts: ${name}`));
  });

  test("an exported function is named by a verb, and the checker sees a noun", () => {
    expect(src.flatMap(findNounFunctions)).toEqual([]);
    const wrong = ["sessionText", "rows", "newState", "byName", "requestLines", "chordOfCode"];
    const right = ["formatState", "isLive", "toView", "optionsToArgv", "busyError", "onExit"];
    const text = [...wrong, ...right].map((name) => `export function ${name}(): void {}`).join("\n");
    expect(findNounFunctions(bad("src/a/x.ts", text))).toEqual(wrong.map((name) => `src/a/x.ts: ${name}`));
    expect(findNounFunctions(bad("src/a/x.ts", "function rows(): void {}"))).toEqual([]);
  });
});

describe("imports", () => {
  test("nothing runs at import, but the programs and the worker threads", () => {
    const passive = src.filter(({ path }) => !STARTERS.test(path));
    expect(passive.flatMap(({ path, text }) => findImportEffects(path, text))).toEqual([]);
  });

  test.each([
    "start();",
    "const a = await start();",
    'import { readFileSync } from "node:fs";\nexport const a = readFileSync("x");',
    'import * as fs from "node:fs";\nexport const a: Buffer = fs.readFileSync("x");',
    "export const timer = setInterval(() => undefined, 5);",
    "if (a) b();",
    "for (const a of b) a();",
    "registry.set('a', 1);",
    "a = 5;",
  ])("`%s` runs at import", (text) => {
    expect(findImportEffects("x.ts", text)).toHaveLength(1);
  });

  test.each([
    "export const a = new Map([['x', 1]]);",
    "export const text = `two\nlines();\nof text`;",
    'import { spawn } from "node:child_process";\nexport const a = () => spawn("x");',
    "export class A { #a = setTimeout; static b = 1; }",
    "// start();\n/* start(); */\nexport type A = string;",
  ])("`%s` does not", (text) => {
    expect(findImportEffects("x.ts", text)).toEqual([]);
  });
});

describe("invariants", () => {
  const web = readSources(ROOT, "web/src", [".ts"]);
  const above = [...src, ...web].filter(({ path }) =>
    /^(src\/(sessions|observe|client|tui)|web\/src)\//.test(path),
  );

  test("what lies above the backends names no vendor, in code, comments and texts", () => {
    expect(new Set(above.map(({ path }) => path.split("/")[1])).size).toBe(5);
    expect(vendorLines(above)).toEqual([]);
    expect(vendorLines([bad("src/tui/x.ts", 'if (category === "codex_output_delta") {')])).toHaveLength(1);
    for (const text of [
      'backend === "claude"',
      "// as Gemini does",
      "`acp_retry`",
      "demian §13",
      "OpenAI's",
    ]) {
      expect(VENDOR.test(text)).toBe(true);
    }
    for (const text of ["capacity", "event.timeStamp", "opacPart"]) expect(VENDOR.test(text)).toBe(false);
  });

  test("every exception from it is still needed", () => {
    const files = new Map(above.map(({ path, text }) => [path, text]));
    const idle = [...VENDOR_EXCEPTIONS].filter(([path]) => !VENDOR.test(files.get(path) ?? ""));
    expect(idle.map(([path]) => path)).toEqual([]);
  });

  test("the sessions name no wire", () => {
    const named = src
      .filter(({ path }) => path.startsWith("src/sessions/"))
      .flatMap(({ path, text }) =>
        text
          .split("\n")
          .filter((line) => WIRE.test(line))
          .map((line) => `${path}: ${line.trim()}`),
      );
    expect(named).toEqual([]);
    for (const text of ["// as NDJSON", "import blemees1", "JSON-RPC"]) expect(WIRE.test(text)).toBe(true);
  });

  const translators = src.filter(({ path }) => /^src\/backends\/[\w/-]+\/translate\.ts$/.test(path));

  test("translators do no I/O: they reach no node: module that can", () => {
    expect(translators.length).toBeGreaterThan(0);
    expect(translators.flatMap(({ path }) => ioOf(path, src))).toEqual([]);
    const reader = [
      bad("src/backends/x/translate.ts", 'import { a } from "./a.ts";'),
      bad("src/backends/x/a.ts", 'import { readFile } from "node:fs/promises";'),
    ];
    expect(ioOf("src/backends/x/translate.ts", reader)).toEqual(["src/backends/x/a.ts: node:fs/promises"]);
  });

  test("translators read no clock, no chance and no process", () => {
    const files = translators.flatMap(({ path }) => reachableFrom(path, src));
    expect(files.filter(({ text }) => IMPURE.test(text)).map(({ path }) => path)).toEqual([]);
    expect(IMPURE.test("const at = Date.now();")).toBe(true);
  });
});

describe("the dashboard", () => {
  const web = existsSync(`${ROOT}/web`) ? readSources(ROOT, "web", [".ts"]) : [];
  /** All that runs in a browser: its own files and what they load of ours. */
  const inBrowser = (sources: readonly Source[]): Source[] => [
    ...new Map(
      web.flatMap(({ path }) => reachableFrom(path, sources)).map((source) => [source.path, source]),
    ).values(),
  ];

  test("takes nothing of ours but the view, the HTTP client and a few helpers, so that it talks HTTP only", () => {
    expect(web.length).toBeGreaterThan(10);
    const taken = web.flatMap((source) =>
      importsOf(source)
        .filter(({ isOurs, isTypeOnly, target }) => isOurs && !isTypeOnly && target.startsWith("src/"))
        .filter(
          ({ target }) =>
            !/^src\/(client\/(view(\/[\w-]+)?|backoff|http\/(api|fetch-transport))|base\/(coded-error|sanitize|values))\.ts$/.test(
              target,
            ),
        )
        .map(({ target }) => `${source.path}: ${target}`),
    );
    expect(taken).toEqual([]);
  });

  test("loads nothing that a browser has not: no node: module and no zod", () => {
    const found = inBrowser([...src, ...web]).flatMap((source) =>
      importsOf(source)
        .filter(({ isTypeOnly, target }) => !isTypeOnly && /^(node:|zod$)/.test(target))
        .map(({ target }) => `${source.path}: ${target}`),
    );
    expect(found).toEqual([]);
  });
});

describe("the view", () => {
  test("is pure: what leads from events to a screen reads no clock, no chance and no process", () => {
    const files = reachableFrom("src/client/view.ts", src);
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter(({ text }) => IMPURE.test(text)).map(({ path }) => path)).toEqual([]);
    expect(ioOf("src/client/view.ts", src)).toEqual([]);
  });
});

function vendorLines(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !VENDOR_EXCEPTIONS.has(path))
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => VENDOR.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
}

function ioOf(start: string, sources: readonly Source[]): string[] {
  return reachableFrom(start, sources).flatMap((source) =>
    importsOf(source)
      .filter(({ target, isTypeOnly }) => target.startsWith("node:") && !isTypeOnly)
      .filter(({ target }) => !PURE_NODE.has(target))
      .map(({ target }) => `${source.path}: ${target}`),
  );
}

describe("tests", () => {
  const tests = readSources(ROOT, "test", [".ts"]);
  const configs = ["vitest.config.ts", "vitest.e2e.config.ts", "vitest.chaos.config.ts"];

  test("every test is named by `test`", () => {
    const others = tests.filter(({ text }) => /import \{[^}]*\bit\b[^}]*\} from "vitest"/.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test("no test is tried twice", () => {
    const texts = [...tests, ...configs.map((path) => bad(path, readFileSync(`${ROOT}/${path}`, "utf8")))];
    const retried = texts.filter(({ text }) =>
      /^\s*retry: (?!\{)|\bretry: \d+[^\n]*\}, (async )?\(/m.test(text),
    );
    expect(retried.map(({ path }) => path)).toEqual([]);
  });

  test("each test file is in one lane, and one that starts processes is not in the unit lane", () => {
    const { unit, process } = sortTests(ROOT);
    const all = tests
      .map(({ path }) => path)
      .filter((path) => /^test\/(?!e2e\/|chaos\/).*\.test\.ts$/.test(path));
    expect([...unit, ...process].sort()).toEqual(all.sort());
    expect(process).toContain("test/daemon/shutdown.test.ts"); // through a helper
    expect(process).toContain("test/base/descendants.test.ts");
    expect(unit).toContain("test/base/json.test.ts");
  });
});

/** `layer: Name` for each type that more than one file of a layer exports. */
function findSharedTypeNames(sources: readonly Source[]): string[] {
  const names = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(
      ([, name]) => `${path.split("/")[1]}: ${name}`,
    ),
  );
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function findNounFunctions({ path, text }: Source): string[] {
  return [...text.matchAll(/^export (?:async )?function\*? (\w+)/gm)].flatMap(([, name = ""]) =>
    isVerbName(name) ? [] : [`${path}: ${name}`],
  );
}

/** `defined` builds an object; verbs that end in -ed otherwise: proceed, feed, need, embed, seed. */
function findUnnamedActions({ path, text }: Source): string[] {
  const functions = [...text.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)].map(
    ([, name = ""]) => name,
  );
  const patterns = [
    /^(?!(?:defined|proceed|feed|need|embed|seed)$)(?:[a-z]+ed|told|kept|sent|shown|known|given|taken|lost|found|said)$/,
    /^(?:done|gone|chosen|busy|within)$/,
    /^[a-z]+Of$/,
    /^(?:too|not)[A-Z]\w*(?<!Error|Failure|Text)$/,
  ];
  return functions
    .filter((name) => patterns.some((pattern) => pattern.test(name)))
    .map((name) => `${path}: ${name}`);
}
