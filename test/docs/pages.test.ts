// Keeps hand-written pages current: their lists are compared with the code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { INBOUND } from "../../src/protocol/wire/blemees2.ts";
import { AGENT_FRAMES, OUTBOUND } from "../../src/protocol/wire/blemees2-outbound.ts";
import { readTraces } from "../backends/claude/traces.ts";
import { ROOT } from "../support/root.ts";
import { readSources } from "./sources.ts";

const page = (name: string): string => readFileSync(join(ROOT, name), "utf8");
const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...markdownBelow("docs")];
const src = readSources(ROOT, "src", [".ts"]);
/** Of `src` and of the repository: a path that starts otherwise is not one of ours. */
const FOLDERS = new Set([
  ...readdirSync(join(ROOT, "src")),
  "src",
  "test",
  "scripts",
  "web",
  "docs",
  "examples",
]);

describe("links", () => {
  test("the pages that the README names exist, and there are more links than pages", () => {
    const named = [...page("README.md").matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, path]) => path);
    expect([...new Set(named)].sort()).toEqual(
      readdirSync(join(ROOT, "docs"))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `docs/${name}`)
        .sort(),
    );
  });

  test.each(pages)("every relative link in %s leads somewhere", (name) => {
    expect(brokenLinks(name, page(name))).toEqual([]);
  });

  test("a link to nothing, and one to a heading that does not exist, are found", () => {
    expect(
      brokenLinks("docs/x.md", "[a](nowhere.md) [b](protocol.md#nothing) [c](protocol.md#replay)"),
    ).toEqual(["nowhere.md", "protocol.md#nothing"]);
  });
});

describe("tables and paths", () => {
  test.each(pages.filter((name) => !/CHANGELOG|decisions/.test(name)))(
    "every source file that %s names exists",
    (name) => expect(missingPaths(page(name))).toEqual([]),
  );

  test("a path without a file, and a name that a file does not contain, are found", () => {
    const text =
      "`base/nothing.ts`, `base/json.ts` (`isObject`), `base/json.ts` (`nothing`), `base/*.ts`, `base/`";
    expect(missingPaths(text)).toEqual(["base/nothing.ts", "base/json.ts (nothing)"]);
  });

  test.each(pages)("no cell of a table in %s has more than 25 words", (name) => {
    expect(longCells(page(name))).toEqual([]);
  });

  test("a cell of 26 words is found", () => {
    expect(longCells(`| a | ${"word ".repeat(26)} |\n| ${"word ".repeat(25)} |`)).toHaveLength(1);
  });

  test("docs/architecture.md has at most 150 lines", () => {
    expect(page("docs/architecture.md").split("\n").length - 1).toBeLessThanOrEqual(150);
  });
});

describe("docs/protocol.md", () => {
  const [newer = ""] = page("docs/protocol.md").split("## `blemees/1`");
  const rows = rowsOf(newer);
  const envelope = new Set(["type", "session_id?", "seq?", "persisted?"]);

  test.each([...Object.entries(INBOUND), ...Object.entries(OUTBOUND)])(
    "the row of %s has exactly the fields of its schema",
    (type, schema) => {
      const inStream = "persisted" in (schema as z.ZodObject).shape;
      const fields = fieldsOf(schema as z.ZodObject).filter((name) => name !== "type");
      const expected = inStream
        ? fields.filter((name) => !envelope.has(name) && name !== "session_id")
        : fields;
      const cell = rows.get(type)?.[0] ?? "";
      expect(codesIn(inStream ? (cell.split(": ")[0] ?? "") : cell).sort()).toEqual(expected.sort());
    },
  );
});

describe("docs/agent-events.md", () => {
  const text = page("docs/agent-events.md");
  const rows = rowsOf(text);
  const common = new Set([
    "type",
    "backend",
    "raw?",
    "parent_tool_use_id?",
    "agent_id?",
    "session_id",
    "seq?",
    "persisted?",
  ]);

  test.each(Object.entries(AGENT_FRAMES))(
    "the row of %s has exactly the fields of its schema",
    (type, schema) => {
      const own = fieldsOf(schema).filter((name) => !common.has(name));
      expect(codesIn(rows.get(type)?.[0] ?? "").sort()).toEqual(own.sort());
    },
  );

  test("every native type and subtype in the recorded traffic is there", () => {
    const seen = readTraces().flatMap(({ steps }) =>
      steps.filter(({ dir }) => dir === "in").flatMap(({ msg }) => namesOf(msg)),
    );
    expect(new Set(seen).size).toBeGreaterThan(20);
    expect([...new Set(seen)].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test("every native name in the translator's tables is there", () => {
    const names = ["translate", "stream-frames", "result-frames"].flatMap((name) => {
      const code = src.find(({ path }) => path === `src/backends/claude/${name}.ts`)?.text ?? "";
      const tables = [
        ...code.matchAll(/^const \w+: Readonly(?:Map|Set)<.*?\n?.*?new (?:Map|Set).*?^\S*\]/gms),
      ];
      return tables.flatMap(([table]) =>
        [...table.matchAll(/(?:\[|^ {2}|, )"([a-z_]+)"/gm)].map(([, n = ""]) => n),
      );
    });
    expect(names).toEqual(
      expect.arrayContaining(["system", "text_delta", "aborted_tools", "control_request"]),
    );
    expect(names.filter((name) => !new RegExp(`[\`/]${name}[\`/]`).test(text))).toEqual([]);
  });
});

test("docs/operations.md explains every event of the daemon's log, and no other", () => {
  const code = src
    .filter(({ path }) => !path.startsWith("src/client/"))
    .map(({ text }) => text)
    .join("\n");
  const direct = /(?:[lL]og\.(?:debug|info|warn|error)|#skip)\(\s*"([a-z_.]+)"/g;
  // The core of a session asks for its lines as effects.
  const asked = /kind: "log",\s*level: "\w+",\s*event: "([a-z_.]+)"/g;
  const logged = [...code.matchAll(direct), ...code.matchAll(asked)];
  const rows = page("docs/operations.md").split("## The daemon's log")[1]?.split(/^## /m)[0] ?? "";
  const explained = [...rows.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) => codesIn(cell));
  expect(explained.sort()).toEqual([...new Set(logged.map(([, event]) => event))].sort());
});

test("docs/operations.md explains every metric, and no other", () => {
  const code = src.map(({ text }) => text).join("\n");
  const declared = [...code.matchAll(/(?:counter|gauge)\(\s*"([a-z_]+)"/g)].map(([, name]) => name);
  expect(declared.length).toBeGreaterThan(10);
  const rows = rowsOf(page("docs/operations.md").split("### Metrics")[1]?.split(/^##/m)[0] ?? "");
  expect([...rows.keys()].sort()).toEqual(declared.sort());
});

test("docs/operations.md quotes the start errors as the program prints them", () => {
  const table = page("docs/operations.md").split("## When it does not start")[1]?.split(/^## /m)[0] ?? "";
  const messages = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) => codesIn(cell));
  const fragments = messages.flatMap((message) => message.split("…")).map((part) => part.trim());
  const code = src.map(({ text }) => text).join("\n");
  expect(fragments.length).toBeGreaterThan(8);
  expect(fragments.filter((part) => part.length > 4 && !code.includes(part))).toEqual([]);
});

test("docs/protocol.md lists every code that the client library creates", () => {
  const code = src
    .filter(({ path }) => /^src\/(client\/|base\/socket-path)/.test(path))
    .map(({ text }) => text)
    .join("\n");
  const made = [...code.matchAll(/(?:new CodedError\(\s*|code: |#endStream\(\w+, )"([a-z_]+)"/g)].map(
    ([, name]) => name,
  );
  expect(made.length).toBeGreaterThan(10);
  const text = page("docs/protocol.md");
  expect([...new Set(made)].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test("docs/dependencies.md names the packages of package.json, and no others", () => {
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(page("package.json")) as Record<
    string,
    object
  >;
  const [, installed = "", bundled = "", develop = "", optional = ""] =
    page("docs/dependencies.md").split(/^## /m);
  const dev = [...rowsOf(bundled).keys(), ...rowsOf(develop).keys()];
  expect([...rowsOf(installed).keys()].sort()).toEqual(Object.keys(dependencies ?? {}).sort());
  expect(dev.sort()).toEqual(Object.keys(devDependencies ?? {}).sort());
  expect([...rowsOf(optional).keys()].sort()).toEqual(Object.keys(peerDependencies ?? {}).sort());
});

test("docs/security.md lists what is refused and what is removed from the environment, as in the code", () => {
  const text = page("docs/security.md");
  const listed = (path: string, name: string): string[] => {
    const code = src.find((source) => source.path === path)?.text ?? "";
    const list = new RegExp(`const ${name}[^=]*= (?:new Set\\()?\\[(.*?)\\]`, "s").exec(code)?.[1] ?? "";
    return [...list.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word);
  };
  const options = "src/backends/claude/options.ts";
  const words = [
    ...listed(options, "REFUSED_KEYS"),
    ...listed(options, "REFUSED_FLAGS"),
    ...listed(options, "FIXED_KEYS"),
    ...listed("src/base/claude-wire/environment.ts", "SET_BY_CLAUDE"),
  ];
  expect(words.length).toBeGreaterThan(15);
  expect(words.filter((word) => !text.includes(`\`${word}\``))).toEqual([]);
});

test("a decision is short, and has context, decision and cost", () => {
  for (const name of markdownBelow("docs/decisions")) {
    expect(page(name).split("\n").length, name).toBeLessThanOrEqual(31);
    expect(page(name), name).toMatch(/\*\*Context\.\*\*.*\*\*Decision\.\*\*.*\*\*Cost\.\*\*/s);
  }
});

function markdownBelow(folder: string): string[] {
  return readSources(ROOT, folder, [".md"]).map(({ path }) => path);
}

/** Paths in code marks, from `src/` or the root, and the names in brackets after them. `*` is any name, `x` a new one. */
function missingPaths(text: string): string[] {
  const named = [...text.matchAll(/`((?:[\w.@-]+\/)+[\w.*-]*)`(?: \(`(\w+)`\))?/g)];
  return named
    .filter(([, path = ""]) => FOLDERS.has(path.split("/")[0] ?? "") && !/\*|\/x\//.test(path))
    .filter(([, path = "", symbol]) => {
      const file = [join(ROOT, "src", path), join(ROOT, path)].find((candidate) => existsSync(candidate));
      return file === undefined || (symbol !== undefined && !readFileSync(file, "utf8").includes(symbol));
    })
    .map(([, path = "", symbol]) => (symbol === undefined ? path : `${path} (${symbol})`));
}

function longCells(text: string): string[] {
  const rows = text.split("\n").filter((line) => line.startsWith("|"));
  return rows
    .flatMap((row) => row.split(/(?<!\\)\|/))
    .map((cell) => cell.trim())
    .filter((cell) => cell.split(/\s+/).length > 25);
}

/** By the first code in its first cell: the other cells of a table row. */
function rowsOf(text: string): Map<string, string[]> {
  const rows = [...text.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)];
  return new Map(rows.map(([, name = "", rest = ""]) => [name, rest.split(" | ")]));
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function fieldsOf(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const isOptional = (field as z.ZodType).safeParse(undefined).success && name !== "input";
    return isOptional ? `${name}?` : name;
  });
}

function namesOf(msg: Record<string, unknown>): string[] {
  const { type, subtype } = msg as { type: string; subtype?: string };
  const event = msg["event"] as { type?: string; delta?: { type?: string } } | undefined;
  const names = [type === "system" || type === "result" ? `${type}/${subtype}` : type];
  if (event?.type !== undefined) names.push(event.type);
  if (event?.delta?.type !== undefined) names.push(event.delta.type);
  return names;
}

function brokenLinks(name: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(ROOT, name) : join(ROOT, dirname(name), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, "utf8")).includes(anchor);
  });
}

/** The anchors that common hosts make from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
