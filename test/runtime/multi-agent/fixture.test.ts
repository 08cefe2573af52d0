// The multi-agent fixture over real HTTP with two providers: delegation, a child's tool, its permission at
// the root, the compact result, and the order of everything.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import { anthropicReply, chatReply } from "../../support/model-server.ts";
import { delegate, story, subAgent, Team, wire } from "./team.ts";

let team: Team;

beforeEach(async () => {
  team = await Team.start();
  team.place.write("a.txt", "the text of a\n");
});

afterEach(() => team.close());

const readA = [{ name: "read_file", input: { path: "a.txt" } }];

function script(): void {
  team.main.script(
    chatReply("A main-only word: marzipan."),
    delegate("reviewer", "Look at a.txt.", { context: "It changed today.", relevantFiles: ["a.txt"] }),
    chatReply("The reviewer says it is fine."),
  );
  team.other.script(anthropicReply("I read it.", readA), anthropicReply("No issues found in a.txt."));
}

describe("22: a child invocation", () => {
  test("runs on its own provider, and the main agent continues with its result", async () => {
    script();
    const { session } = await team.open();
    await session.run({ text: "an earlier question" });
    const report = await session.run({ text: "review a.txt" });
    expect(report).toMatchObject({ outcome: "completed", text: "The reviewer says it is fine.", turns: 2 });
    expect(wire(team.main, 2)).toContain("No issues found in a.txt.");
    expect(team.other.requests).toHaveLength(2);
    expect(team.other.requests[0]?.headers["authorization"]).toBe("Bearer key-of-b");
    expect(wire(team.other, 1)).toContain("the text of a");
  });

  test("spends what the turn spends", async () => {
    script();
    const { session, events } = await team.open();
    await session.run({ text: "an earlier question" });
    const { usage } = await session.run({ text: "review a.txt" });
    const told = events.filter((event) => event.type === "model.usage").slice(1);
    expect(told.filter(({ agentPath }) => agentPath !== undefined)).toHaveLength(2);
    expect(usage.inputTokens).toBe(told.reduce((sum, event) => sum + event.inputTokens, 0));
    expect(usage.outputTokens).toBe(told.reduce((sum, event) => sum + event.outputTokens, 0));
    const done = events.find((event) => event.type === "agent.invocation.completed");
    expect(done).toMatchObject({ targetAgent: "reviewer", turns: 2, usage: { outputTokens: 10 } });
  });

  test("has its own limit of turns, and says when it met it", async () => {
    team.main.script(delegate("reviewer", "Look.", { maxTurns: 1 }), chatReply("Well."));
    team.other.script(anthropicReply("Looking", readA));
    const { session, events } = await team.open();
    await session.run({ text: "review" });
    expect(team.other.requests).toHaveLength(1);
    expect(wire(team.main, 1)).toMatch(
      /stopped after 1 model requests.*raise delegation\.subInvocationMaxTurns/,
    );
    expect(events.find(({ type }) => type === "agent.invocation.completed")).toMatchObject({ turns: 1 });
  });
});

describe("26: a structured handoff", () => {
  test("is the only text the other provider gets: nothing of the main conversation", async () => {
    script();
    const { session } = await team.open();
    await session.run({ text: "an earlier question about gingerbread" });
    await session.run({ text: "review a.txt" });
    const sent = wire(team.other, 0) + wire(team.other, 1);
    for (const given of ["Look at a.txt.", "It changed today.", "review a.txt", "You review."]) {
      expect(sent).toContain(given);
    }
    for (const kept of [
      "marzipan",
      "gingerbread",
      "You are demian",
      "delegate_agent",
      "inv_",
      "as_",
      session.id,
    ]) {
      expect(sent).not.toContain(kept);
    }
    expect(team.other.requests[0]?.body).toMatchObject({
      tools: [{ name: "read_file" }, { name: "grep" }, { name: "glob" }],
    });
  });
});

describe("31: one transcript at the root", () => {
  test("has main and child in the order of events, with the agent of each", async () => {
    script();
    const { session, events } = await team.open();
    await session.run({ text: "an earlier question" });
    const from = events.length;
    await session.run({ text: "review a.txt" });
    expect(story(events.slice(from))).toEqual([
      "main: user.message",
      "main: model.request",
      "main: tool.requested delegate_agent",
      "main: agent.invocation.requested",
      "main: permission.requested",
      "main: permission.granted",
      "main: tool.started delegate_agent",
      "reviewer: agent.invocation.started",
      "reviewer: agent.invocation.tool_policy.applied",
      "reviewer: user.message",
      "reviewer: model.request",
      "reviewer: model.text",
      "reviewer: tool.requested read_file",
      "reviewer: permission.granted",
      "reviewer: tool.started read_file",
      "reviewer: tool.completed read_file",
      "reviewer: model.request",
      "reviewer: model.text",
      "reviewer: turn.ended",
      "reviewer: agent.session.memory_updated",
      "reviewer: agent.invocation.completed",
      "main: tool.completed delegate_agent",
      "main: model.request",
      "main: model.text",
      "main: turn.ended",
    ]);
    await session.close();
    const lines = transcript(session.id);
    const unrecorded = new Set(["model.text.delta"]);
    expect(lines).toEqual(JSON.parse(JSON.stringify(events.filter(({ type }) => !unrecorded.has(type)))));
    expect(lines.every(({ rootSessionId }) => rootSessionId === session.id)).toBe(true);
    const child = lines.filter(({ agentPath }) => agentPath !== undefined);
    expect(new Set(child.map(({ invocationId }) => invocationId)).size).toBe(1);
    for (const line of child) {
      expect(line).toMatchObject({ parentInvocationId: "main", agent: "reviewer", agentPath: ["reviewer"] });
      expect(line.agentSessionId).toMatch(/^as_/);
    }
  });

  test("the result that goes back names it, and the invocation in it", async () => {
    script();
    const { session, events } = await team.open();
    await session.run({ text: "one" });
    await session.run({ text: "review a.txt" });
    const { invocationId } = events.find(({ type }) => type === "agent.invocation.started") ?? {};
    expect(wire(team.main, 2)).toContain(`.demian/transcripts/${session.id}/session.jsonl`);
    expect(wire(team.main, 2)).toContain(String(invocationId));
  });
});

describe("28: repeated delegation to the same agent", () => {
  test("continues in the same session, which remembers the first task; another agent's does not", async () => {
    team.configure({ agents: { second: subAgent({ provider: { profile: "b" } }) } });
    team.main.script(delegate("reviewer", "First task: walnut."), delegate("reviewer", "Second task."));
    team.main.script(delegate("second", "Third task."), chatReply("Done."));
    team.other.script(
      anthropicReply("Findings:\n- a crack in the shell"),
      anthropicReply("Two."),
      anthropicReply("3"),
    );
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    expect(wire(team.other, 1)).toContain("walnut");
    expect(wire(team.other, 1)).toContain("a crack in the shell");
    expect(wire(team.other, 2)).not.toContain("walnut");
    const sessions = events.flatMap((event) =>
      event.type === "agent.invocation.started" ? [event.agentSessionId] : [],
    );
    expect(sessions[0]).toBe(sessions[1]);
    expect(sessions[2]).not.toBe(sessions[0]);
  });

  test("its calls have names that no other call of the root session has", async () => {
    team.configure({ agents: { reviewer: subAgent() } });
    team.main.script(
      delegate("reviewer", "Look."),
      chatReply("", readA),
      chatReply("It is fine."),
      chatReply("Done."),
    );
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    const ids = events.flatMap((event) => (event.type === "tool.requested" ? [event.callId] : []));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });
});

function transcript(sessionId: string): RuntimeEvent[] {
  const path = join(team.place.cwd, ".demian/transcripts", sessionId, "session.jsonl");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as RuntimeEvent);
}
