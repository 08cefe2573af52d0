// Hooks and sub-agents: what they see of a delegation, what they may do to it, and which agent they are attributed to.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { anthropicReply, chatReply } from "../../support/model-server.ts";
import { testTool } from "../stage.ts";
import { delegate, subAgent, Team, wire } from "./team.ts";

let team: Team;
let log: string;

beforeEach(async () => {
  team = await Team.start();
  log = join(team.place.root, "log");
  writeFileSync(log, "");
});

afterEach(() => team.close());

interface Seen {
  event: string;
  agent: string;
  agentPath?: string[];
  prompt?: string;
}

/** Records the input of each. */
const watching = (...events: string[]) =>
  events.map((event) => ({ name: `watch-${event}`, event, command: `cat >> '${log}'; echo >> '${log}'` }));
const seen = () =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Seen);
const says = (result: object) => `cat > /dev/null; echo '${JSON.stringify(result)}'`;

describe("a hook", () => {
  test("on delegate_agent changes the plan: the user is asked about that, and that is sent", async () => {
    const patch = { agent: "reviewer", task: "Look at b.txt." };
    const match = { tool: "delegate_agent" };
    team.configure({ hooks: [{ name: "other-task", event: "PreToolUse", match, command: says({ patch }) }] });
    team.main.script(delegate("writer", "Look at a.txt.", { contextRefs: ["x"] }), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    const { session, prompts, events } = await team.open();
    await session.run({ text: "go" });
    expect(prompts.map(({ invocation }) => invocation?.agent)).toEqual(["reviewer"]);
    expect(prompts[0]?.invocation?.handoff).toContain("Look at b.txt.");
    expect(wire(team.other, 0)).toContain("Look at b.txt.");
    expect(wire(team.other, 0)).not.toContain("a.txt");
    expect(events.find(({ type }) => type === "agent.invocation.requested")).toMatchObject({
      targetAgent: "reviewer",
    });
  });

  test("is given the whole path of agents, from the main agent down", async () => {
    team.configure({ hooks: watching("BeforeModelRequest") });
    team.main.script(delegate("reviewer", "Look."), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(seen().map(({ agent, agentPath }) => [agent, agentPath])).toEqual([
      ["build", ["build"]],
      ["reviewer", ["build", "reviewer"]],
      ["build", ["build"]],
    ]);
  });

  test("that fires for a sub-agent is reported with that agent", async () => {
    team.place.write("a.txt", "a\n");
    const warns = { name: "warns", event: "PreToolUse", command: says({ decision: "warn", message: "hm" }) };
    const fails = { name: "fails", event: "BeforeModelRequest", command: "exit 7" };
    team.configure({ hooks: [warns, fails] });
    team.main.script(delegate("reviewer", "Look."), chatReply("Done."));
    team.other.script(
      anthropicReply("", [{ name: "read_file", input: { path: "a.txt" } }]),
      anthropicReply("Fine."),
    );
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    const { invocationId } = events.find(({ type }) => type === "agent.invocation.started") ?? {};
    const told = (type: string) =>
      events.filter((event) => event.type === type).map((event) => [event.agent, event.invocationId]);
    expect(told("hook.fired")).toEqual([
      ["build", "main"],
      ["reviewer", invocationId],
    ]);
    expect(told("hook.failed")).toEqual([
      ["build", "main"],
      ["reviewer", invocationId],
      ["reviewer", invocationId],
      ["build", "main"],
    ]);
  });

  test("for user messages is not given a handoff, nor changes it after the user allowed it", async () => {
    const adds = { name: "adds", event: "UserPromptSubmit", command: says({ patch: { prompt: "changed" } }) };
    team.configure({ hooks: [...watching("UserPromptSubmit", "Stop"), adds] });
    team.main.script(delegate("reviewer", "Look."), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    const { session, prompts } = await team.open();
    await session.run({ text: "the user's words" });
    expect(seen().map(({ event, agent }) => `${event} ${agent}`)).toEqual([
      "UserPromptSubmit build",
      "Stop build",
    ]);
    expect(JSON.stringify(team.other.requests[0]?.body)).toContain(
      JSON.stringify(prompts[0]?.invocation?.handoff).slice(1, -1),
    );
    expect(prompts[0]?.invocation?.handoff).toContain("changed");
  });

  test("for a session's start runs once for each sub-agent's session, and holds for its later tasks", async () => {
    const adds = { name: "adds", event: "SessionStart", command: says({ patch: { system: "Be kind." } }) };
    team.configure({ hooks: [...watching("SessionStart"), adds] });
    team.main.script(delegate("reviewer", "One."), delegate("reviewer", "Two."), chatReply("Done."));
    team.other.script(anthropicReply("1"), anthropicReply("2"));
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(seen().map(({ agent }) => agent)).toEqual(["build", "reviewer"]);
    expect(wire(team.other, 0)).toContain("Be kind.");
    expect(wire(team.other, 1)).toContain("Be kind.");
  });

  test("that blocks a sub-agent's start blocks the next one too, until it lets it pass", async () => {
    const flag = join(team.place.root, "flag");
    const block = says({ decision: "block", message: "not yet" });
    const hook = { name: "gate", event: "SessionStart", match: { agent: "reviewer" } };
    team.configure({ hooks: [{ ...hook, command: `test -e '${flag}' || { ${block}; }` }] });
    team.main.script(...["One.", "Two."].map((task) => delegate("reviewer", task)), chatReply("No."));
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(wire(team.main, 2).match(/not yet/g)).toHaveLength(2);
    appendFileSync(flag, "");
    team.main.script(delegate("reviewer", "Three."), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    expect(await session.run({ text: "again" })).toMatchObject({ text: "Done." });
    expect(team.other.requests).toHaveLength(1);
  });

  test("that hangs for a sub-agent ends with the turn", async () => {
    const started = join(team.place.root, "started");
    const hangs = { name: "hangs", event: "BeforeModelRequest", match: { agent: "reviewer" } };
    team.configure({
      hooks: [{ ...hangs, command: `touch '${started}'; exec sleep 600`, timeoutMs: 600_000 }],
    });
    team.main.script(delegate("reviewer", "Look."));
    const { session, events } = await team.open();
    const turn = session.run({ text: "go" });
    await expect.poll(() => existsSync(started)).toBe(true);
    await session.close();
    expect(await turn).toMatchObject({ outcome: "aborted" });
    expect(events.find(({ type }) => type === "agent.invocation.cancelled")).toBeDefined();
    expect(team.other.requests).toEqual([]);
  });
});

describe("a tool of an embedding program", () => {
  test("cannot take the name of delegate_agent, nor start agents itself", async () => {
    const contexts: object[] = [];
    const spy = testTool({ name: "spy" });
    const tools = [
      testTool({ name: "delegate_agent" }),
      {
        ...spy,
        plan: (...[value, context]: Parameters<typeof spy.plan>) => {
          contexts.push(context);
          return spy.plan(value, context);
        },
      },
    ];
    team.configure({
      agents: { main: subAgent({ mode: "primary", tools: { visible: ["spy", "delegate_agent"] } }) },
    });
    const { cwd, env } = team.place;
    const runtime = await createRuntime({ cwd, env, tools });
    expect(runtime.warnings.join("\n")).toMatch(/"delegate_agent".*ignored/);
    team.main.script(chatReply("", [{ name: "spy", input: {} }]), chatReply("Done."));
    const session = await runtime.openSession({
      agent: "main",
      ask: () => Promise.resolve({ decision: "allow" }),
      onEvent: () => undefined,
    });
    await session.run({ text: "go" });
    await runtime.close();
    const body = team.main.requests[0]?.body as { tools: { function: { name: string } }[] } | undefined;
    expect(body?.tools.map(({ function: { name } }) => name)).toEqual(["spy", "delegate_agent"]);
    expect(contexts).toHaveLength(1);
    expect(contexts[0]).not.toHaveProperty("delegator");
  });

  test("of a sub-agent cannot ask the user as if it were the main agent's", async () => {
    const asked: string[] = [];
    const tool = testTool({ name: "asker" });
    const asker = {
      ...tool,
      execute: async (...[, , context]: Parameters<typeof tool.execute>) => {
        asked.push(`${context.agent} ${context.question === undefined ? "cannot" : "can"} ask`);
        return { ok: true, content: "ok" };
      },
    };
    const visible = { tools: { visible: ["asker"] } };
    team.configure({
      agents: { helper: subAgent(visible), main: subAgent({ mode: "primary", ...visible }) },
    });
    const { cwd, env } = team.place;
    const runtime = await createRuntime({ cwd, env, tools: [asker] });
    const call = chatReply("", [{ name: "asker", input: {} }]);
    team.main.script(call, delegate("helper", "Ask."), call, chatReply("Asked."), chatReply("Done."));
    const session = await runtime.openSession({
      agent: "main",
      ask: () => Promise.resolve({ decision: "allow" }),
      question: () => Promise.resolve("my password"),
      onEvent: () => undefined,
    });
    await session.run({ text: "go" });
    await runtime.close();
    expect(asked).toEqual(["main can ask", "helper cannot ask"]);
  });
});
