// docs/demian.md: its examples work, and its tables are what the code has.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { demianSchemaFile, demianTables } from "../../scripts/docs/demian.ts";
import { fillSections } from "../../scripts/docs/sections.ts";
import { ConfigFile, DemianConfig } from "../../src/runtime/config/schema.ts";
import { Places } from "../runtime/config/places.ts";
import { ROOT } from "../support/daemon.ts";

const page = readFileSync(join(ROOT, "docs/demian.md"), "utf8");
const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => text);

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

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
    "the schema of files takes %s too",
    (text) => {
      expect(ConfigFile.safeParse(JSON.parse(text)).error?.issues ?? []).toEqual([]);
    },
  );
});

describe("the tables", () => {
  test("every setting has a row with a meaning", () => {
    const table = demianTables().get("config") ?? "";
    for (const row of table.split("\n").slice(2))
      expect(row, row).toMatch(/^\| `[\w.]+` \| .+ \| .* \| .{5,} \|$/);
    for (const key of Object.keys(DemianConfig.shape)) expect(table).toMatch(new RegExp(`\\| \`${key}[.\`]`));
  });

  test("rows of providers, rules, hooks and agents have a meaning too", () => {
    for (const name of ["openai-compatible", "anthropic", "permissions", "hooks", "agents"]) {
      const rows = demianTables().get(name)?.split("\n").slice(2) ?? [];
      expect(rows.filter((row) => / \| {2}\|$/.test(row) && !/`type`/.test(row))).toEqual([]);
      expect(rows.length).toBeGreaterThan(3);
    }
  });

  test("a page without the marks, or with old contents between them, is noticed", () => {
    const sections = new Map([["a", "new"]]);
    const filled = fillSections("x\n<!-- generated: a -->\nold\n<!-- end: a -->\ny", sections);
    expect(filled).toBe("x\n<!-- generated: a -->\n\nnew\n\n<!-- end: a -->\ny");
    expect(fillSections(filled, sections)).toBe(filled);
    expect(() => fillSections("x", sections)).toThrow(/no <!-- generated: a -->/);
  });
});

test("the schema file says what the loader takes: presets may be changed in part, older names are there", () => {
  const schema = JSON.parse(demianSchemaFile()) as {
    properties: Record<string, unknown>;
    required?: string[];
  };
  expect(schema.required ?? []).toEqual([]);
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(["mode", "multiAgent", "$schema"]));
  expect(z.safeParse(ConfigFile, { providers: { openai: { model: "m" } } }).success).toBe(true);
  expect(z.safeParse(ConfigFile, { providers: { openai: { modle: "m" } } }).success).toBe(false);
});
