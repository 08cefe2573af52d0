// An agent with its own loop at the terminal: its requests and output, and a plan that another agent carries out.
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { ExternalRuntime } from "../../../src/runtime/external/types.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createUsage } from "../../../src/runtime/usage.ts";
import { chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { ASKED, acceptSettings, DONE, messagesOf, READY } from "./every-terminal.ts";
import { Screenplay } from "./in-process.ts";
import { World } from "./world.ts";

const PLAN = "1. look\n2. write";
const world = new World();
let model: ModelServer;
let terminal: Screenplay | undefined;

beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(async () => {
  terminal?.kill();
  await model.close();
});
afterAll(() => world.remove());

const planner: ExternalRuntime = {
  executor: "claudecode",
  defaultDecision: "by-category",
  plan: ({ tool, input }, { root }) => {
    const command = String(input["command"]);
    const target = { kind: "command", command, cwd: root } as const;
    const plan = { title: `${tool}: ${command}`, command, cwd: root, targets: [target] };
    return Promise.resolve({ ...plan, isHarmless: false, input });
  },
  run: async ({ emit }) => {
    const tool = {
      callId: "toolu_1",
      name: "Read",
      executor: "claudecode",
      qualifiedName: "claudecode.Read",
    };
    emit({ type: "model.text.delta", text: "I look." });
    emit({ type: "model.text", text: "I look.", final: false });
    emit({ type: "tool.started", ...tool, input: {}, title: "Read: a.ts" });
    emit({ type: "tool.completed", ...tool, ok: true, preview: "", content: "", durationMs: 1 });
    emit({ type: "model.text.delta", text: PLAN });
    emit({ type: "model.text", text: PLAN, final: true });
    const usage = { inputTokens: 7, outputTokens: 3, costUsd: 0.0123 };
    return { outcome: "completed", text: PLAN, turns: 2, usage, plan: PLAN };
  },
};

async function begin(external = planner, flags: readonly string[] = []): Promise<Screenplay> {
  const provider = { key: "planner", type: "claudecode", model: "sonnet", external };
  terminal = new Screenplay(
    world,
    ["--provider", "planner", ...flags],
    {},
    {
      createRuntime: (order) => createRuntime({ ...order, providers: new Map([["planner", provider]]) }),
    },
  );
  await acceptSettings(terminal);
  return terminal;
}

test("a plan is shown once, with how to use it; /use-plan sends it with more text to the provider selected then", async () => {
  model.script(chatReply("Done."), chatReply("Again."));
  const screen = await begin();
  screen.enter("plan it");
  const shown = await screen.until(DONE);
  expect(shown).toContain("● CC Read: a.ts\n");
  expect(shown.match(/2\. write/g)).toHaveLength(1);
  expect(shown).toMatch(/this is only a plan; nothing was changed\. \/use-plan/);
  expect(shown).toContain("· 2 turns, 7 tokens in, 3 out, $0.0123");
  screen.enter("/provider local");
  await screen.until(READY);
  screen.enter("/use-plan but be quick");
  expect(await screen.until(DONE)).toContain("Done.");
  const sent = JSON.stringify(messagesOf(model, 0).at(-1));
  expect(sent).toContain(JSON.stringify(PLAN).slice(1, -1));
  expect(sent.indexOf("2. write")).toBeLessThan(sent.indexOf("but be quick"));
});

test("in multi-agent mode, the possible sub-agents are shown again when another provider changes them", async () => {
  const screen = await begin(planner, ["--multi-agent"]);
  expect(screen.text).toMatch(/multi-agent: build cannot delegate: planner has its own tools/);
  screen.enter("/provider local");
  expect(await screen.until(READY)).toMatch(/multi-agent: build may delegate to explorer, critic/);
  screen.enter("/model another");
  expect(await screen.until(READY)).not.toContain("multi-agent");
});

test("its commands are shown completely in the prompt, with the program that will run them and that no sandbox applies", async () => {
  const runner: ExternalRuntime = {
    ...planner,
    run: async ({ decide, signal }) => {
      const call = { callId: "toolu_1", tool: "Bash", input: { command: "touch a.txt" } };
      const { allowed } = await decide(call, signal);
      return { outcome: "completed", text: `allowed: ${allowed}`, turns: 1, usage: createUsage() };
    },
  };
  const screen = await begin(runner);
  screen.enter("do it");
  const asked = await screen.until(ASKED);
  expect(asked).toContain("$ touch a.txt\n");
  expect(asked).toMatch(/run by +claudecode itself, outside demian's sandbox/);
  screen.enter("");
  expect(await screen.until(DONE)).toContain("allowed: false");
  expect(screen.text).toContain("denied (user)");
});
