// Claude Code as a sub-agent of demian: what it gets of the main conversation, what it can read, and how it asks.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { claudeProgram } from "../claude/world.ts";
import { ClaudeCodeWorld, of, type Runtime } from "./claudecode-world.ts";

let main: ModelServer;
beforeEach(async () => {
  main = await startModelServer();
});
afterEach(() => main.close());

/** The main agent uses another provider; its reviewer is Claude Code. */
function configure(world: ClaudeCodeWorld, runtime: Runtime): void {
  world.place.configure({
    agentMode: "multi-agent",
    defaultProvider: "local",
    providers: {
      local: { type: "openai-compatible", model: "m", baseURL: `${main.url}/v1`, maxRetries: 0 },
      claudecode: { type: "claudecode", model: "sonnet", runtime, cliPath: claudeProgram() },
    },
    agents: {
      reviewer: {
        description: "Reviews.",
        mode: "subagent",
        prompt: { system: "You review." },
        provider: { profile: "claudecode" },
        tools: { visible: [] },
        permissions: [],
      },
    },
    permissions: [{ tool: "*", match: { pathGlob: "private/**" }, decision: "deny" }],
    sandbox: { allowEnvOnly: true },
  });
}

test.each(["agent-sdk", "cli"] as const)(
  "by %s: it can read neither the main conversation nor what the user denies, and asks with its path",
  async (runtime) => {
    const world = await ClaudeCodeWorld.open(runtime);
    configure(world, runtime);
    world.place.write("private/a.txt", "heron in private\n");
    world.place.write("b.txt", "heron in the open\n");
    writeFileSync(join(world.place.root, "out.txt"), "heron outside\n");
    const steps = [
      ["Grep", { pattern: "heron", output_mode: "content" }],
      ["Glob", { pattern: "**/*" }],
      ["Bash", { command: "true" }],
    ];
    const task = `see @../out.txt\n#mock:steps ${JSON.stringify(steps)}`;
    const delegation = { name: "delegate_agent", input: { agent: "reviewer", task } };
    main.script(chatReply("", [delegation]), chatReply("done"));
    const { session, events, prompts } = await world.session();
    const report = await session.run({ text: "what do you know of the blue heron?" });
    expect(report).toMatchObject({ outcome: "completed", text: "done" });
    const [grep, glob] = of(events, "tool.completed");
    expect(grep?.content).toBe("b.txt:1:heron in the open");
    expect(glob?.content).not.toMatch(/\.demian|private/);
    expect(JSON.stringify(world.model.requests)).not.toContain("heron outside");
    expect(prompts).toMatchObject([
      { tool: "delegate_agent" },
      { tool: "Bash", executor: "claudecode", agentPath: ["reviewer"] },
    ]);
    expect(report.usage.costUsd).toBeGreaterThan(0);
    await world.close();
  },
);
