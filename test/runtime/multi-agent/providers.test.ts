// Which provider a sub-agent uses, and how deep delegation goes.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import type { ExternalRuntime, ExternalTurn } from "../../../src/runtime/external/types.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { anthropicReply, chatReply } from "../../support/model-server.ts";
import { delegate, story, subAgent, Team, wire } from "./team.ts";

let team: Team;

beforeEach(async () => {
  team = await Team.start();
});

afterEach(() => team.close());

const modelsOf = () => team.main.requests.map(({ body }) => (body as { model: string }).model);

describe("19: the provider of a sub-agent", () => {
  test("is the session's, with the model of the configuration: what was chosen for the main agent stays there", async () => {
    team.configure({ agents: { helper: subAgent() } });
    team.main.script(delegate("helper", "Look."), chatReply("Fine."), chatReply("Done."));
    const { session, prompts } = await team.open({ model: "chosen-for-main" });
    await session.run({ text: "go" });
    expect(modelsOf()).toEqual(["chosen-for-main", "model-a", "chosen-for-main"]);
    expect(prompts[0]?.invocation).toMatchObject({ provider: "a", model: "model-a", crossesProvider: false });
  });

  test("without a configured model it is the main agent's", async () => {
    const a = { type: "openai-compatible", baseURL: `${team.main.url}/v1` };
    team.configure({ agents: { helper: subAgent() }, providers: { a, b: a } });
    team.main.script(delegate("helper", "Look."), chatReply("Fine."), chatReply("Done."));
    const { session } = await team.open({ model: "the-only-one" });
    await session.run({ text: "go" });
    expect(new Set(modelsOf())).toEqual(new Set(["the-only-one"]));
  });

  test("that does not inherit is the default one, whatever the main agent uses", async () => {
    team.configure({
      agents: { helper: subAgent({ provider: { inheritRoot: false } }) },
      defaultProvider: "b",
    });
    team.main.script(delegate("helper", "Look."), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    const { session } = await team.open({ provider: "a" });
    await session.run({ text: "go" });
    expect(team.other.requests).toHaveLength(1);
  });

  test("that is not ready is a refusal with what to set, and the user is not asked", async () => {
    const keyless = {
      type: "openai-compatible",
      model: "m",
      baseURL: "https://models.invalid/v1",
      apiKeyEnv: "NO_SUCH_KEY",
    };
    const a = { type: "openai-compatible", model: "model-a", baseURL: `${team.main.url}/v1` };
    const helper = subAgent({ provider: { profile: "keyless" } });
    team.configure({ agents: { helper }, providers: { a, b: a, keyless } });
    team.main.script(delegate("helper", "Look."), chatReply("Done."));
    const { session, prompts } = await team.open();
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "completed" });
    expect(wire(team.main, 1)).toContain("NO_SUCH_KEY");
    expect(prompts).toEqual([]);
  });

  test("that does not exist keeps the agent out from the start, with a sentence", async () => {
    team.configure({ agents: { helper: subAgent({ provider: { profile: "bb" } }) } });
    const runtime = await team.place.runtime();
    expect(runtime.agents.list().map(({ agent }) => agent.name)).not.toContain("helper");
    expect(runtime.warnings.join("\n")).toMatch(/"helper" is ignored.*no provider "bb"/s);
  });
});

describe("a sub-agent with its own loop", () => {
  test("gets nothing about our tools, our sandbox and our agents, and its usage counts", async () => {
    const turns: ExternalTurn[] = [];
    const report = { outcome: "completed", text: "Done there.", turns: 1 } as const;
    const external: ExternalRuntime = {
      executor: "elsewhere",
      defaultDecision: "ask",
      plan: ({ tool, input }) => Promise.resolve({ title: tool, targets: [], isHarmless: false, input }),
      run: (turn) => {
        turns.push(turn);
        return Promise.resolve({ ...report, usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.25 } });
      },
    };
    const guest = subAgent({ provider: { profile: "b" }, delegation: { canDelegate: true } });
    team.configure({ agents: { guest }, delegation: { maxDepth: 2 } });
    const { cwd, env } = team.place;
    const b = { key: "b", type: "elsewhere", model: "m", external };
    const runtime = await createRuntime({ cwd, env, providers: new Map([["b", b]]) });
    const events: RuntimeEvent[] = [];
    const session = await runtime.openSession({
      ask: () => Promise.resolve({ decision: "allow" }),
      question: () => Promise.resolve("yes"),
      onEvent: (event) => void events.push(event),
    });
    team.main.script(delegate("guest", "One."), delegate("guest", "Two."), chatReply("Done."));
    const { usage } = await session.run({ text: "go" });
    await runtime.close();
    expect(usage).toMatchObject({ inputTokens: 32, costUsd: 0.5 });
    expect(turns.map(({ agentPath, text }) => [agentPath !== undefined, text.includes("## Task")])).toEqual([
      [true, true],
      [true, true],
    ]);
    for (const { systemPrompt, question } of turns) {
      expect(systemPrompt).toContain("Working directory:");
      expect(systemPrompt).not.toMatch(/read_file|delegate_agent|Commands: run|Available sub agents/);
      expect(question).toBeUndefined();
    }
    const policy = events.find((event) => event.type === "agent.invocation.tool_policy.applied");
    expect(policy).toMatchObject({ tools: [] });
  });
});

describe("21: how deep delegation goes", () => {
  const lead = subAgent({ delegation: { canDelegate: true } });

  test("one step by default: a sub-agent that may delegate is not even shown how", async () => {
    team.configure({ agents: { lead } });
    team.main.script(
      delegate("lead", "Lead."),
      delegate("reviewer", "Look."),
      chatReply("No."),
      chatReply("Done."),
    );
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(team.main.requests[1]?.body).toMatchObject({ tools: { length: 3 } });
    expect(wire(team.main, 2)).toContain('has no tool \\"delegate_agent\\"');
    expect(team.other.requests).toEqual([]);
  });

  test("two steps: everything carries the whole path, and the request is the user's own", async () => {
    team.configure({ agents: { lead }, delegation: { maxDepth: 2 } });
    team.main.script(
      delegate("lead", "Lead."),
      delegate("reviewer", "Look."),
      chatReply("Led."),
      chatReply("Done."),
    );
    team.other.script(anthropicReply("Fine."));
    const { session, events, prompts } = await team.open();
    const report = await session.run({ text: "the user's own words" });
    expect(report.text).toBe("Done.");
    expect(wire(team.other, 0)).toContain("the user's own words");
    expect(prompts.map(({ agentPath, invocation }) => [agentPath, invocation?.agent])).toEqual([
      [undefined, "lead"],
      [["lead"], "reviewer"],
    ]);
    expect(story(events)).toEqual(
      expect.arrayContaining([
        "lead: agent.invocation.requested",
        "lead>reviewer: agent.invocation.completed",
      ]),
    );
    const [outer, inner] = events.filter(({ type }) => type === "agent.invocation.started");
    expect(inner).toMatchObject({ depth: 2, parentInvocationId: outer?.invocationId });
    expect(report.usage.outputTokens).toBe(
      events.reduce((sum, event) => sum + (event.type === "model.usage" ? event.outputTokens : 0), 0),
    );
  });

  test("no agent delegates to itself, to a caller, to the hidden, or to those that only talk to users", async () => {
    const hidden = subAgent({ hidden: true });
    const shy = subAgent({ delegation: { callable: false } });
    team.configure({ agents: { lead: { ...lead, mode: "all" }, hidden, shy }, delegation: { maxDepth: 3 } });
    const names = ["build", "plan", "hidden", "shy", "nobody"];
    team.main.script(...names.map((name) => delegate(name, "Do it.")), chatReply("Done."));
    const { session, prompts, events } = await team.open();
    await session.run({ text: "go" });
    expect(prompts).toEqual([]);
    expect(events.some(({ type }) => type === "agent.invocation.started")).toBe(false);
    expect(events.filter(({ type }) => type === "tool.failed")).toHaveLength(names.length);
    team.main.script(
      delegate("lead", "Lead."),
      delegate("lead", "Again."),
      chatReply("No."),
      chatReply("Done."),
    );
    await session.run({ text: "go" });
    expect(events.filter(({ type }) => type === "agent.invocation.started")).toHaveLength(1);
  });
});
