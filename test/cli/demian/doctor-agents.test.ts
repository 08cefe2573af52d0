// What the doctor says about agents and tools as they were loaded, and about those who are to work together.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Check } from "../../../src/cli/demian/doctor/check.ts";
import { run } from "./in-process.ts";
import { World } from "./world.ts";

const world = new World();
const URL = "http://127.0.0.1:9";
beforeEach(() => world.begin(URL));
afterAll(() => world.remove());

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function checks(...flags: string[]): Promise<Check[]> {
  const { stdout } = await run(world, ["doctor", "--json", ...flags]);
  return (JSON.parse(stdout) as { checks: Check[] }).checks;
}

const agent = (more: object) => ({
  description: "d",
  prompt: { system: "s" },
  tools: { visible: ["read_file"] },
  permissions: [],
  ...more,
});

test("an agent file that is wrong is told with file and line, and the others are counted", async () => {
  write(join(world.home, ".demian/agents/bad.md"), "---\ndescription: d\nbaseURL: http://x\n---\nHello.\n");
  write(
    join(world.home, ".demian/agents/good.md"),
    "---\ndescription: d\nmode: subagent\ntools: { visible: [read_file] }\n---\nHello.\n",
  );
  const found = await checks();
  expect(found).toContainEqual({
    name: "agents",
    status: "warn",
    text: expect.stringMatching(/agents\/bad\.md:3: "baseURL" is not an agent's to say/),
  });
  expect(found).toContainEqual({
    name: "agents",
    status: "ok",
    text: expect.stringMatching(/builtin, 1 user$/),
  });
});

test("a tool module that waits for trust is told with the command that gives it, and is not run", async () => {
  const file = join(world.workspace, ".demian/tools/evil.mjs");
  const mark = join(world.workspace, "was-run");
  write(file, `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, "");`);
  expect(await checks()).toContainEqual({
    name: "tools",
    status: "warn",
    text: expect.stringMatching(/evil\.mjs is not loaded: .*`demian trust .*evil\.mjs`/),
  });
  expect(world.has("was-run")).toBe(false);
});

test("an agent whose provider is not ready is a warning that says what is missing", async () => {
  world.begin(URL, { agents: { reviewer: agent({ mode: "subagent", provider: { profile: "locked" } }) } });
  expect(await checks()).toContainEqual({
    name: "agents",
    status: "warn",
    text: expect.stringMatching(/^reviewer uses the provider locked, which is not ready: .*NOT_SET_ANYWHERE/),
  });
});

test("what the default provider lacks is told once", async () => {
  world.begin(URL, { defaultProvider: "claudecode" });
  const found = await checks();
  expect(found.filter(({ text }) => text.includes("Agent SDK of Claude Code is not installed"))).toEqual([
    expect.objectContaining({ name: "provider", status: "warn" }),
  ]);
});

test("with several agents it is said whom the default agent may call, or why it works alone", async () => {
  const delegation = (found: Check[]) => found.filter(({ name }) => name === "delegation");
  expect(delegation(await checks())).toEqual([]);
  expect(delegation(await checks("--multi-agent"))).toMatchObject([
    { status: "ok", text: expect.stringMatching(/^build may delegate to /) },
  ]);
  for (const [more, why] of [
    [{ delegation: { maxDepth: 0 } }, "delegation.maxDepth is 0"],
    [{ defaultProvider: "claudecode" }, "claudecode brings tools of its own"],
    [
      { defaultAgent: "solo", agents: { solo: agent({ delegation: { canDelegate: false } }) } },
      "its delegation.canDelegate is false",
    ],
    [
      { defaultAgent: "solo", agents: { solo: agent({ delegation: { allowedAgents: [] } }) } },
      "it may call none of those that can be called",
    ],
  ] as const) {
    world.begin(URL, more);
    expect(delegation(await checks("--multi-agent"))).toMatchObject([
      { status: "warn", text: expect.stringContaining(`works alone: ${why}`) },
    ]);
  }
});
