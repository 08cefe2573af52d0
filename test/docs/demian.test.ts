// docs/demian.md: its examples work, and its tables match the code.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { demianPage, demianSchemaFile } from "../../scripts/docs/demian.ts";
import { fillSections } from "../../scripts/docs/sections.ts";
import { ConfigFile, DemianConfig } from "../../src/runtime/config/schema.ts";
import { run } from "../cli/demian/in-process.ts";
import { World } from "../cli/demian/world.ts";
import { Places } from "../runtime/config/places.ts";
import { ROOT } from "../support/root.ts";

const page = readFileSync(join(ROOT, "docs/demian.md"), "utf8");
const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => text);

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

test("the introduction links to every section", () => {
  const [head = "", ...sections] = page.replace(/```.*?```/gs, "").split(/^##+ /m);
  const titles = sections.map((text) => text.slice(0, text.indexOf("\n")));
  const anchors = [...head.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
  const wanted = titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  expect(anchors.toSorted()).toEqual(wanted.toSorted());
});

describe("the examples", () => {
  test("there are some for providers, permissions, hooks and agents", () => {
    const keys = new Set(examples.flatMap((text) => Object.keys(JSON.parse(text) as object)));
    expect([...keys]).toEqual(expect.arrayContaining(["providers", "permissions", "hooks", "agents"]));
  });

  test.each(examples)("%s loads without a warning", async (text) => {
    places.user(text);
    expect((await places.load()).warnings).toEqual([]);
  });

  test.each([...examples, readFileSync(join(ROOT, "test/fixtures/demian/config-of-the-spec.json"), "utf8")])(
    "the schema of files accepts %s too",
    (text) => {
      expect(ConfigFile.safeParse(JSON.parse(text)).error?.issues ?? []).toEqual([]);
    },
  );
});

describe("the example of several agents", () => {
  const world = new World();
  afterAll(() => world.remove());

  test("the configuration and the agent file make the same reviewer, whom the main agent may call", async () => {
    const [config = ""] = examples.filter((text) => text.includes('"agentMode"'));
    const files = [...page.matchAll(/```markdown\n(.*?)```/gs)].map(([, text = ""]) => text);
    const [file = ""] = files.filter((text) => text.includes("category: reviewer"));
    world.begin("http://127.0.0.1:9");
    writeFileSync(world.configFile, config);
    const env = { CORP_LLM_KEY: "made-up" };
    const before = await reviewerIn(env);
    const { agents: _, ...rest } = JSON.parse(config) as { agents: object };
    writeFileSync(world.configFile, JSON.stringify(rest));
    mkdirSync(join(world.home, ".demian/agents"));
    writeFileSync(join(world.home, ".demian/agents/reviewer.md"), file);
    const after = await reviewerIn(env);
    expect(after.tools).toEqual(before.tools);
    expect([before, after]).toMatchObject([
      { isCallable: true, provider: "second", category: "reviewer", cost: "cheap" },
      { isCallable: true, provider: "second", category: "reviewer", cost: "cheap" },
    ]);
  });

  test("the tool module loads once it is trusted", async () => {
    const [, module = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
    world.begin("http://127.0.0.1:9");
    const folder = join(world.workspace, ".demian/tools");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "word_count.mjs"), module);
    const [, command = ""] = /demian (trust \S+\.mjs)/.exec(page) ?? [];
    expect((await run(world, ["list-tools"])).stdout).not.toContain("word_count");
    expect(await run(world, [...command.split(" "), "--yes"])).toMatchObject({ code: 0 });
    expect((await run(world, ["list-tools"])).stdout).toMatch(
      /word_count +none +ask +project: \.demian\/tools\/word_count\.mjs/,
    );
  });

  async function reviewerIn(env: Record<string, string>): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await run(world, ["list-agents", "--json"], "", env);
    expect(stderr).toBe("");
    const rows = JSON.parse(stdout) as { name: string }[];
    const tools = await run(world, ["list-tools", "--json"], "", env);
    expect(tools.stdout).toMatch(/"enum":\s*\[[^\]]*"reviewer"/);
    return { ...rows.find(({ name }) => name === "reviewer") };
  }
});

describe("the tables", () => {
  const sections = new Map(
    demianPage()
      .split(/^## /m)
      .slice(1)
      .map((text) => [
        text.slice(0, text.indexOf("\n")),
        text
          .split("\n")
          .filter((line) => line.startsWith("|"))
          .slice(2),
      ]),
  );

  test("every setting has a row", () => {
    const table = sections.get("Settings")?.join("\n") ?? "";
    for (const key of Object.keys(DemianConfig.shape)) expect(table).toMatch(new RegExp(`\\| \`${key}[.\`]`));
  });

  test.each([...sections].filter(([title]) => !/presets|variables/.test(title)))(
    "%s: every row has a meaning",
    (_title, rows) => {
      expect(rows.length).toBeGreaterThan(3);
      for (const row of rows.filter((text) => !/`type`/.test(text)))
        expect(row, row).toMatch(/^\| `[\w.]+` \| .+ \| .* \| .{5,} \|$/);
    },
  );

  test("a page without the markers, or with old contents between them, is noticed", () => {
    const sections = new Map([["a", "new"]]);
    const filled = fillSections("x\n<!-- generated: a -->\nold\n<!-- end: a -->\ny", sections);
    expect(filled).toBe("x\n<!-- generated: a -->\n\nnew\n\n<!-- end: a -->\ny");
    expect(fillSections(filled, sections)).toBe(filled);
    expect(() => fillSections("x", sections)).toThrow(/no <!-- generated: a -->/);
  });
});

test("the schema file matches the loader: presets may be changed in part, older names are accepted", () => {
  const schema = JSON.parse(demianSchemaFile()) as {
    properties: Record<string, unknown>;
    required?: string[];
  };
  expect(schema.required ?? []).toEqual([]);
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(["mode", "multiAgent", "$schema"]));
  expect(z.safeParse(ConfigFile, { providers: { openai: { model: "m" } } }).success).toBe(true);
  expect(z.safeParse(ConfigFile, { providers: { openai: { modle: "m" } } }).success).toBe(false);
});
