// The built demian, with an Agent SDK that is installed elsewhere.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT } from "../../support/root.ts";
import { ClaudeCodeWorld } from "./claudecode-world.ts";

const start = promisify(execFile);

let world: ClaudeCodeWorld;

beforeEach(async () => {
  world = await ClaudeCodeWorld.open("agent-sdk");
});

afterEach(() => world.close());

function demian(...args: string[]) {
  const { cwd, env } = world.place;
  const running = start(process.execPath, [join(ROOT, "dist/demian-cli.js"), ...args], { cwd, env });
  // It would treat piped input as part of the question.
  running.child.stdin?.end();
  return running;
}

test("the SDK in the variable is used, and its actions are shown", async () => {
  const { stdout, stderr } = await demian("--yes", "#mock:bash echo from there");
  expect(stdout).toBe("tool said: from there\n");
  expect(stderr).toMatch(/CC Bash: echo from there/);
});

test("without the SDK it reports what to install, and starts nothing", async () => {
  delete world.place.env["DEMIAN_CLAUDE_SDK"];
  await expect(demian("#mock:text never")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/npm install -g @anthropic-ai\/claude-agent-sdk/),
  });
  expect(world.model.requests).toEqual([]);
});
