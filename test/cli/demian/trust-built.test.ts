// Agents and tools from files in the program as it ships: its bundle must include the YAML parser and load code that it
// has never seen.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { BuiltDemian } from "./built-demian.ts";
import { World } from "./world.ts";

const world = new World();
const tool = join(world.workspace, ".demian/tools/clock.mjs");
const demian = new BuiltDemian(world);
let model: ModelServer;

afterAll(() => world.remove());
beforeEach(async () => {
  model = await startModelServer(
    chatReply("", [{ id: "call_1", name: "clock", input: { zone: "UTC" } }]),
    chatReply("Done."),
  );
  world.begin(model.url);
  write(
    join(world.home, ".demian/agents/keeper.md"),
    "---\nname: keeper\ndescription: Keeps the time.\ntools:\n  visible: [clock]\n---\nYou keep the time.\n",
  );
  write(
    tool,
    `import { sep } from "node:path";
export default {
  name: "clock",
  description: "Tells the time.",
  inputSchema: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
  execute: async ({ zone }, { cwd }) => ({ ok: true, content: \`noon in \${zone} at \${cwd.split(sep).at(-1)}\` }),
};
`,
  );
});
afterEach(() => model.close());

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = demian.start(...args);
  child.stdin.end();
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

test("the user's agent calls a project tool once it is trusted; before, the tool does not exist", async () => {
  const before = await run("list-agents");
  expect(before.stderr).toMatch(/clock\.mjs is not loaded: it is code that you have not trusted yet/);
  expect(before.stderr).toMatch(/keeper\.md:5: the agent "keeper" is ignored: there is no tool "clock"/);
  expect(before.stdout).not.toMatch(/keeper/);
  expect((await run("trust", "--yes", tool)).stdout).toBe(`trusted ${tool}\n`);
  expect((await run("list-agents")).stdout).toMatch(/^ {2}keeper .*user/m);
  expect((await run("list-tools")).stdout).toMatch(/^clock +external +ask +project\b/m);
  const { stdout } = await run("--agent", "keeper", "--yes", "-p", "What time is it?");
  expect(stdout).toBe("Done.\n");
  expect(JSON.stringify(model.requests[1]?.body)).toContain("noon in UTC at workspace");
});

test("output, processes and unawaited promises of a module do not affect the answer, and the program exits", async () => {
  write(
    tool,
    `console.log("loaded"); setInterval(() => undefined, 1000);
export default {
  name: "clock",
  description: "Tells the time.",
  inputSchema: { type: "object" },
  execute: async () => {
    console.log("called");
    void Promise.reject(new Error("forgotten"));
    return "noon";
  },
};
`,
  );
  await run("trust", "--yes", tool);
  const { stdout, stderr } = await run("--agent", "keeper", "--yes", "-p", "What time is it?");
  expect(stdout).toBe("Done.\n");
  expect(stderr).toMatch(/^loaded$/m);
  expect(stderr).toMatch(/^called$/m);
  expect(stderr).toMatch(/ToolModule: unhandled rejection: forgotten/);
});

test("without consent the tool is not run", async () => {
  await run("trust", "--yes", tool);
  const { stderr } = await run("--agent", "keeper", "-p", "What time is it?");
  expect(stderr).toMatch(/clock: \{"zone":"UTC"\}/);
  expect(JSON.stringify(model.requests[1]?.body)).toMatch(/needs the user's approval/);
});
