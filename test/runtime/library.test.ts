// The library `blemees/demian` as a program gets it: the example with the built package, and tools by their authors.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { createTool, type ToolContext } from "../../src/runtime/index.ts";

const ROOT = resolve(".");
const isBuilt = existsSync(join(ROOT, "dist/demian.mjs"));

describe.runIf(isBuilt)("the library", () => {
  test("runs the example: a tool, an agent and a session in a program of one's own", async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-library-"));
    mkdirSync(join(home, "node_modules"));
    symlinkSync(ROOT, join(home, "node_modules/blemees"));
    const outfile = join(home, "embed-demian.mjs");
    await build({ entryPoints: ["examples/embed-demian.ts"], outfile, format: "esm", platform: "node" });
    const env = { PATH: process.env["PATH"], HOME: home };
    const ran = spawnSync(process.execPath, [outfile], { cwd: home, env, encoding: "utf8" });
    expect(ran).toMatchObject({
      status: 0,
      stderr: "",
      stdout:
        '[asked] stock: {"item":"bolts"}\n[stock] bolts: 12 pieces\n[completed] The shelf says bolts: 12 pieces.\n',
    });
    expect(existsSync(join(home, ".demian"))).toBe(false);
    rmSync(home, { recursive: true });
  });

  test("has types for everything that it exports", () => {
    expect(existsSync(join(ROOT, "dist/types/runtime/index.d.ts"))).toBe(true);
  });
});

describe("createTool", () => {
  const order = {
    name: "stock",
    description: "d",
    inputSchema: { type: "object" as const, properties: { item: { type: "string" } }, required: ["item"] },
    execute: ({ item }: { item: string }, { agent }: ToolContext) => `${item} for ${agent}`,
  };

  test("checks inputs against the schema, and is asked about by default", () => {
    const tool = createTool(order);
    expect(tool.metadata).toEqual({ sideEffect: "external", defaultDecision: "ask" });
    expect(tool.check({ item: "bolts" })).toEqual({ ok: true, value: { item: "bolts" } });
    expect(tool.check({ item: 1 })).toMatchObject({ ok: false, message: expect.stringMatching(/item/) });
  });

  test("refuses what is not a tool, with all that is wrong", () => {
    expect(() => createTool({ ...order, name: "Not A Name", description: "" })).toThrow(
      /^not a tool: .*\/name: .*\/description: /,
    );
  });
});
