// A delegation that is aborted at each of its moments: no child continues, no line of the transcript is cut, the result is
// clear, and the next turn works.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import { anthropicReply, chatReply, type Reply } from "../../support/model-server.ts";
import { abortAtEveryEvent, PAUSES } from "../every-moment.ts";
import { delegate, subAgent, Team, wire } from "./team.ts";

/** No other process sleeps this long. */
const SLEEP = `0.0${process.pid}02`;
const COMMAND = `sleep ${SLEEP}; echo one`;

let team: Team;

beforeEach(async () => {
  team = await Team.start();
  const runner = subAgent({ provider: { profile: "b" }, tools: { visible: ["bash"] }, permissions: [] });
  team.configure({ agents: { runner } });
  team.place.write("a.txt", "a\n");
});

afterEach(() => team.close());

/** Answers a user's "work" with a delegation, anything else with text. */
const mainReply: Reply = (exchange) => {
  const { messages } = exchange.request.body as { messages: { content: unknown }[] };
  return (messages.at(-1)?.content === "work" ? delegate("runner", "Run it.") : chatReply("Done."))(exchange);
};

/** Answers a task with a command, its result with text. */
const childReply: Reply = (exchange) => {
  const { messages } = exchange.request.body as { messages: { content: unknown }[] };
  const isTask = !JSON.stringify(messages.at(-1)?.content).includes("tool_result");
  return anthropicReply("Ran.", isTask ? [{ name: "bash", input: { command: COMMAND } }] : [])(exchange);
};

describe("40: root abort cancels the active child", () => {
  test.each(PAUSES)("%s after any of its events", { timeout: 60_000 }, async (_name, pause) => {
    team.main.script(...Array.from({ length: 300 }, () => mainReply));
    team.other.script(...Array.from({ length: 300 }, () => childReply));
    const session = await abortAtEveryEvent({
      open: (order) => team.open(order),
      pause,
      argument: SLEEP,
      maxEvents: 120,
    });
    const lines = transcript(session.id);
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.some(({ type }) => type === "agent.invocation.cancelled")).toBe(true);
  });

  test("while the child waits for its model: the connection is cut, and the main agent is informed", async () => {
    let cut = false;
    team.main.script(delegate("runner", "Run it."), chatReply("Next."));
    team.other.script(async ({ head, gone }) => {
      head();
      await gone;
      cut = true;
    });
    const { session, events } = await team.open();
    const turn = session.run({ text: "go" });
    await team.other.request(0);
    await session.abort();
    expect(await turn).toMatchObject({ outcome: "aborted" });
    await expect.poll(() => cut).toBe(true);
    expect(events.find(({ type }) => type === "agent.invocation.cancelled")).toMatchObject({
      targetAgent: "runner",
    });
    await session.run({ text: "and now?" });
    expect(wire(team.main, 1)).toContain("was stopped before it finished");
  });

  test("while the user is asked for the child: the request is withdrawn", async () => {
    team.main.script(delegate("runner", "Run it."));
    team.other.script(childReply);
    let asked: AbortSignal | undefined;
    const { session } = await team.open({
      ask: ({ tool }, signal) => {
        if (tool !== "bash") return Promise.resolve({ decision: "allow" });
        asked = signal;
        return new Promise(() => undefined);
      },
    });
    const turn = session.run({ text: "go" });
    await expect.poll(() => asked !== undefined).toBe(true);
    await session.abort();
    expect(await turn).toMatchObject({ outcome: "aborted" });
    expect(asked?.aborted).toBe(true);
  });
});

describe("what goes wrong in a child", () => {
  test("a provider that fails is a result with the reason, and the main agent continues", async () => {
    team.main.script(delegate("runner", "Run it."), chatReply("Then without."));
    team.other.script(({ head, write, end }) => {
      head(401, { "content-type": "application/json" });
      void write('{"type":"error","error":{"type":"authentication_error","message":"bad key"}}');
      end();
    });
    const { session, events } = await team.open();
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "completed", text: "Then without." });
    expect(wire(team.main, 1)).toMatch(/runner did not finish/);
    expect(wire(team.main, 1)).not.toContain("key-of-b");
    expect(events.find(({ type }) => type === "agent.invocation.failed")).toMatchObject({
      targetAgent: "runner",
    });
    expect(events.find((event) => event.type === "tool.failed")).toMatchObject({ name: "delegate_agent" });
  });

  test("a hook that blocks its start is a result with the hook's message", async () => {
    const hook = `grep -q '"agent":"runner"' && echo '{"decision":"block","message":"no helpers here"}' || true`;
    const hooks = [{ name: "alone", event: "SessionStart", command: hook }];
    team.configure({ agents: { runner: subAgent({ provider: { profile: "b" } }) }, hooks });
    team.main.script(delegate("runner", "Run it."), chatReply("Alone then."));
    const { session } = await team.open();
    expect(await session.run({ text: "go" })).toMatchObject({ text: "Alone then." });
    expect(wire(team.main, 1)).toContain("no helpers here");
    expect(team.other.requests).toEqual([]);
  });

  test("dry run: the child runs, its tools do not", async () => {
    const writer = subAgent({ tools: { visible: ["write_file"] }, permissions: [] });
    team.configure({ agents: { writer } });
    const write = chatReply("", [{ name: "write_file", input: { path: "new.txt", content: "x" } }]);
    team.main.script(delegate("writer", "Write."), write, chatReply("Dry."), chatReply("Done."));
    const { session } = await team.open({ dryRun: true });
    await session.run({ text: "go" });
    expect(wire(team.main, 2)).toContain("Dry run");
    expect(existsSync(join(team.place.cwd, "new.txt"))).toBe(false);
  });
});

/** Every line is whole, or this throws. */
function transcript(sessionId: string): RuntimeEvent[] {
  const path = join(team.place.cwd, ".demian/transcripts", sessionId, "session.jsonl");
  const text = readFileSync(path, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RuntimeEvent);
}
