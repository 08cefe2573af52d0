// The doctor's report on loaded agents and tools, and on agents that work together.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Check } from "../../../src/cli/checks.ts";
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

test("an invalid agent file is reported with file and line, and the others are counted", async () => {
  write(join(world.home, ".demian/agents/bad.md"), "---\ndescription: d\nbaseURL: http://x\n---\nHello.\n");
  write(
    join(world.home, ".demian/agents/good.md"),
    "---\ndescription: d\nmode: subagent\ntools: { visible: [read_file] }\n---\nHello.\n",
  );
  const found = await checks();
  expect(found).toContainEqual({
    name: "agents",
    status: "warn",
    text: expect.stringMatching(/agents\/bad\.md:3: "baseURL" cannot be set by an agent/),
  });
  expect(found).toContainEqual({
    name: "agents",
    status: "ok",
    text: expect.stringMatching(/builtin, 1 user$/),
  });
});

test("an untrusted tool module is reported with the command that trusts it, and is not run", async () => {
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

test("an agent whose provider is not ready is a warning that names what is missing", async () => {
  world.begin(URL, { agents: { reviewer: agent({ mode: "subagent", provider: { profile: "locked" } }) } });
  expect(await checks()).toContainEqual({
    name: "agents",
    status: "warn",
    text: expect.stringMatching(/^reviewer uses the provider locked, which is not ready: .*NOT_SET_ANYWHERE/),
  });
});

test("a problem of the default provider is reported once", async () => {
  world.begin(URL, { defaultProvider: "claudecode" });
  const found = await checks();
  expect(found.filter(({ text }) => text.includes("Claude Agent SDK is not installed"))).toEqual([
    expect.objectContaining({ name: "provider", status: "warn" }),
  ]);
});

test("in multi-agent mode it lists the agents that the default agent may call, or why it cannot delegate", async () => {
  const delegation = (found: Check[]) => found.filter(({ name }) => name === "delegation");
  expect(delegation(await checks())).toEqual([]);
  expect(delegation(await checks("--multi-agent"))).toMatchObject([
    { status: "ok", text: expect.stringMatching(/^build may delegate to /) },
  ]);
  for (const [more, why] of [
    [{ delegation: { maxDepth: 0 } }, "delegation.maxDepth is 0"],
    [{ defaultProvider: "claudecode" }, "claudecode has its own tools"],
    [
      { defaultAgent: "solo", agents: { solo: agent({ delegation: { canDelegate: false } }) } },
      "its delegation.canDelegate is false",
    ],
    [
      { defaultAgent: "solo", agents: { solo: agent({ delegation: { allowedAgents: [] } }) } },
      "it is not allowed to call any of the callable agents",
    ],
  ] as const) {
    world.begin(URL, more);
    expect(delegation(await checks("--multi-agent"))).toMatchObject([
      { status: "warn", text: expect.stringContaining(`cannot delegate: ${why}`) },
    ]);
  }
});
