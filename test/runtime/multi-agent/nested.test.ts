// Three agents deep: an abort within any event, attribution, and cost are right at every level.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RuntimeEvent } from "../../../src/runtime/events.ts";
import { completeToolCalls } from "../../../src/runtime/history.ts";
import { anthropicReply, chatReply, type Reply } from "../../support/model-server.ts";
import { delegate, story, subAgent, Team } from "./team.ts";

let team: Team;

beforeEach(async () => {
  team = await Team.start();
  const lead = subAgent({ delegation: { canDelegate: true } });
  team.configure({ agents: { lead }, delegation: { maxDepth: 2 } });
  team.place.write("a.txt", "a\n");
  team.main.script(...Array.from({ length: 400 }, () => mainReply));
  team.other.script(...Array.from({ length: 200 }, () => otherReply));
});

afterEach(() => team.close());

const lastOf: (exchange: Parameters<Reply>[0]) => string = ({ request }) =>
  JSON.stringify((request.body as { messages: unknown[] }).messages.at(-1));

/** The main agent to "work" and the lead to its task: a delegation. To a report: text. */
const mainReply: Reply = (exchange) => {
  const last = lastOf(exchange);
  if (last.includes('"work"')) return delegate("lead", "Lead.")(exchange);
  return (last.includes("## Task") ? delegate("reviewer", "Look.") : chatReply("Done."))(exchange);
};

/** A task may share a message with the results of one that was aborted before. */
const otherReply: Reply = (exchange) =>
  anthropicReply(
    "Looked.",
    /## Task[^{}]*}\]}$/.test(lastOf(exchange).replace(/,"cache_control":{[^}]*}/, ""))
      ? [{ name: "read_file", input: { path: "a.txt" } }]
      : [],
  )(exchange);

test("every event names its agent, all the way up, and all usage is counted at the root", async () => {
  const { session, events } = await team.open();
  const { usage } = await session.run({ text: "work" });
  const started = events.filter((event) => event.type === "agent.invocation.started");
  const [lead, reviewer] = started;
  expect(started).toHaveLength(2);
  for (const event of events) {
    const { agent, agentPath, rootSessionId, invocationId, parentInvocationId, parentCallId } = event;
    expect(rootSessionId).toBe(session.id);
    const place = { agent, agentPath, invocationId, parentInvocationId, parentCallId };
    const above =
      agent === "lead" ? { ...lead, parent: "main" } : { ...reviewer, parent: lead?.invocationId };
    if (agent === "build") expect(place).toEqual({ agent, invocationId: "main" });
    else {
      expect(place).toEqual({
        agent,
        agentPath: agent === "lead" ? ["lead"] : ["lead", "reviewer"],
        invocationId: above.invocationId,
        parentInvocationId: above.parent,
        parentCallId: above.parentCallId,
      });
      expect(event.agentSessionId).toBe(above.agentSessionId);
    }
  }
  expect(usage.outputTokens).toBe(spent(events));
  const done = events.flatMap((event) => (event.type === "agent.invocation.completed" ? [event] : []));
  expect(done.map((event) => [event.agent, event.usage.outputTokens])).toEqual([
    ["reviewer", 10],
    ["lead", 20],
  ]);
});

test("an abort within any event ends every level, with what was spent and a result that says so", async () => {
  let events: RuntimeEvent[] = [];
  let abortAt = "";
  let abort = new AbortController();
  const { session } = await team.open({
    onEvent: (event) => {
      events.push(event);
      if (story([event])[0] === abortAt) abort.abort();
    },
  });
  await session.run({ text: "work" });
  const moments = [...new Set(story(events))].filter((moment) => !moment.startsWith("main: session"));
  expect(moments.length).toBeGreaterThan(30);
  for (abortAt of moments) {
    events = [];
    abort = new AbortController();
    const { outcome, usage } = await session.run({ text: "work", signal: abort.signal });
    expect(outcome, abortAt).toBe(abortAt === "main: turn.ended" ? "completed" : "aborted");
    expect(usage.outputTokens, abortAt).toBe(spent(events));
    const ends = events.filter(({ type }) => /^agent\.invocation\.(completed|failed|cancelled)$/.test(type));
    expect(ends.length, abortAt).toBe(
      events.filter(({ type }) => type === "agent.invocation.started").length,
    );
    expect(completeToolCalls(session.history)).toEqual(session.history);
    const contents = session.history.map(({ content }) => content);
    expect(contents, abortAt).not.toContain("undefined");
  }
});

test("one that was done before it could be stopped is done, and its report is kept", async () => {
  const abort = new AbortController();
  const { session } = await team.open({
    onEvent: ({ type, agent }) => {
      if (type === "turn.ended" && agent === "lead") abort.abort();
    },
  });
  expect(await session.run({ text: "work", signal: abort.signal })).toMatchObject({ outcome: "aborted" });
  expect(session.history.at(-1)).toMatchObject({
    role: "tool",
    content: expect.stringMatching(/^Done\.\n\n\[Reference: /),
  });
});

function spent(events: readonly RuntimeEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === "model.usage" ? event.outputTokens : 0), 0);
}
