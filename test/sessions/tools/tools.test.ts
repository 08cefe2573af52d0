// The tools by which an agent manages others, with fake agents: called on its own channel, over the manager of its rights.
import { expect, test, vi } from "vitest";
import type { ToolOutcome } from "../../../src/backends/types.ts";
import { toAgentCaller } from "../../../src/sessions/rights/caller.ts";
import { callTool, listTools } from "../../../src/sessions/tools/call.ts";
import { TOOLS } from "../../../src/sessions/tools/table.ts";
import { PATIENT } from "../../support/patience.ts";
import { askOf, settle } from "../fakes.ts";
import { runOf, spawn, textsOf, type World, world } from "../system.ts";

const lead = async (more: object = {}) => {
  const on = await world();
  await spawn(on, "lead", { manager: true, ...more });
  await settle();
  return on;
};

/** As the agent of this session, on its channel. */
async function call(on: World, name: string, input: object, from = "lead"): Promise<ToolOutcome> {
  const run = runOf(on, from);
  const native_id = `call-${run.returned.length}-${name}`;
  run.sink.toolCalled?.({ native_id, name, input });
  return vi.waitFor(() => {
    const found = run.returned.find((one) => one.native_id === native_id);
    if (found === undefined) throw new Error("no result yet");
    return found.outcome;
  }, PATIENT);
}

const read = ({ text, isError }: ToolOutcome) => {
  expect(isError, text).toBeUndefined();
  return JSON.parse(text);
};

async function spawnKid(on: World, more: object = {}): Promise<string> {
  const { session } = read(
    await call(on, "agents_spawn", { agent: "fake", prompt: "dig", name: "kid", ...more }),
  );
  await settle();
  return session.session_id;
}

/**
 * No tokenizer is part of the tests. Measured: 639 tokens with o200k, 650 with Anthropic's published tokenizer, 4.3 characters
 * each; newer ones may cut finer. 3.2 is a third less than any that we know of.
 */
const CHARS_PER_TOKEN = 3.2;

test("tools/list costs at most 900 tokens", () => {
  const list = JSON.stringify({ tools: listTools() });
  expect(list.length / CHARS_PER_TOKEN).toBeLessThanOrEqual(900);
});

test("only a session that was spawned as a manager has them, and others can be given none by a call", async () => {
  const on = await lead();
  await spawn(on, "plain");
  expect(runOf(on, "lead").order.tools?.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  expect(runOf(on, "plain").order).not.toHaveProperty("tools");
});

test("a session that is no manager is refused, although its agent calls", async () => {
  const on = await world();
  await spawn(on, "plain");
  await settle();
  const said = await call(on, "agents_look", {}, "plain");
  expect(said).toMatchObject({ isError: true, text: expect.stringContaining("--manager") });
});

test("a spawned agent is a child that works where its parent does, and may have no more rights", async () => {
  const on = await lead({ cwd: "/w", mcp: [] });
  const id = await spawnKid(on);
  expect(await on.manager.view(id)).toMatchObject({ parent: "lead", name: "kid", cwd: "/w" });
  expect(textsOf(runOf(on, id))).toEqual(["dig"]);
  const refused = await call(on, "agents_spawn", { agent: "fake", prompt: "x", may_answer: true });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("escalation: agent:lead") });
});

test("a call that is repeated by the next daemon spawns no second agent and sends no second message", async () => {
  const on = await lead();
  const manager = on.manager.as(toAgentCaller("lead"));
  const again = { manager, self: "lead", key: "g call-1", signal: new AbortController().signal };
  const order = { name: "agents_spawn", input: { agent: "fake", prompt: "dig" } };
  const [first, second] = [read(await callTool(order, again)), read(await callTool(order, again))];
  expect(second.session.session_id).toBe(first.session.session_id);
  const send = { name: "agents_send", input: { id: first.session.session_id, text: "deeper" } };
  for (const key of ["g call-2", "g call-2"]) read(await callTool(send, { ...again, key }));
  expect((await on.manager.queue(first.session.session_id)).queued).toHaveLength(1);
});

test("a wait ends with the first agent that is idle or asks, and takes its wake", async () => {
  const on = await lead();
  const kid = await spawnKid(on);
  const other = await spawnKid(on, { name: "other" });
  const waiting = call(on, "agents_wait", { ids: ["kid", "other"] });
  await settle();
  runOf(on, kid).ask(askOf("rm x"));
  const { sessions } = read(await waiting);
  expect(sessions).toMatchObject([
    { reason: "blocked", session: { session_id: kid }, requests: [{ session_id: kid }] },
  ]);
  expect((await on.manager.queue("lead")).queued).toEqual([]);
  const timeout = read(await call(on, "agents_wait", { ids: [other], timeout_s: 0 }));
  expect(timeout.sessions).toMatchObject([{ reason: "timeout", session: { session_id: other } }]);
  const own = await call(on, "agents_wait", { ids: ["lead"] });
  expect(own).toMatchObject({ isError: true, text: expect.stringContaining("your own turn") });
});

test("a request of a child is answered only with the grant", async () => {
  for (const may_answer of [true, false]) {
    const on = await lead({ may_answer });
    const kid = await spawnKid(on);
    runOf(on, kid).ask(askOf("rm x"));
    await settle();
    const { requests } = read(await call(on, "agents_look", { show: "requests" }));
    expect(requests).toMatchObject([{ session_id: kid, payload: { title: "run rm x" } }]);
    const answer = { request_id: requests[0].request_id, decision: "accept" };
    const said = await call(on, "agents_answer", answer);
    if (may_answer) expect(read(said)).toMatchObject({ session_id: kid, status: "resolved" });
    else expect(said).toMatchObject({ isError: true, text: expect.stringContaining("not_allowed") });
    expect(runOf(on, kid).answered).toHaveLength(may_answer ? 1 : 0);
  }
});

test("looking and stopping is limited to its own subtree", async () => {
  const on = await lead();
  const kid = await spawnKid(on);
  await spawn(on, "stranger");
  expect(read(await call(on, "agents_look", {})).sessions).toMatchObject([{ session_id: kid }]);
  expect(read(await call(on, "agents_look", { id: "kid" }))).toMatchObject({ session_id: kid });
  for (const [name, input] of [
    ["agents_stop", { id: "stranger" }],
    ["agents_send", { id: "stranger", text: "hi" }],
    ["agents_look", { id: "stranger", show: "tail" }],
  ] as const)
    expect(await call(on, name, input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("not_allowed"),
    });
  expect(read(await call(on, "agents_stop", { id: "kid" }))).toEqual({ stopped: [kid] });
});

test.each([
  ["agents_spwan", {}, "unknown tool agents_spwan; known: agents_spawn"],
  ["agents_send", { id: "lead", txt: "x" }, "/txt: unexpected property"],
  ["agents_answer", { request_id: "req_0" }, "expected either decision or answers"],
  ["agents_look", { show: "diff" }, "id: required for show: diff"],
  ["agents_look", { id: "nobody" }, "session_unknown"],
])("a wrong call of %s is a result that says what is wrong", async (name, input, message) => {
  const said = await call(await lead(), name, input);
  expect(said).toMatchObject({ isError: true, text: expect.stringContaining(message) });
});

test("a call that the agent withdraws, or whose agent ends, gets no result", async () => {
  const on = await lead();
  await spawnKid(on);
  const run = runOf(on, "lead");
  const before = run.returned.length;
  run.sink.toolCalled?.({ native_id: "a", name: "agents_wait", input: { ids: ["kid"] } });
  run.sink.toolCalled?.({ native_id: "b", name: "agents_wait", input: { ids: ["kid"] } });
  run.sink.withdrawn("a", "interrupted");
  await settle();
  await on.manager.stop("lead", { tree: true });
  await settle();
  expect(run.returned).toHaveLength(before);
});
