// Budgets in the sessions layer, with fakes: held queues, one interrupt, the request to a person, restarts.
import { expect, test } from "vitest";
import type { Budget } from "../../../src/protocol/budget.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { Ear, FakeStore, gate, settle, user } from "../fakes.ts";
import { runOf, spawn, textsOf, type World, world } from "../system.ts";

const usd = (max_cost_usd: number): { budget: Budget } => ({ budget: { max_cost_usd } });
const by = { source: "http" } as const;

async function pending(on: World): Promise<RequestRow[]> {
  return (await on.manager.requests({})).requests;
}

async function only(on: World): Promise<RequestRow> {
  const [row, ...others] = await pending(on);
  if (row === undefined || others.length > 0) throw new Error(`${others.length + (row ? 1 : 0)} requests`);
  return row;
}

function answer(on: World, { session_id, request_id }: RequestRow, given: object): Promise<unknown> {
  return on.manager.respond({ session_id, request_id, answer: given as never, ...by });
}

/** Ends the turn of a session with this cost. */
async function pay(on: World, session_id: string, cost_usd: number): Promise<void> {
  runOf(on, session_id).result("success", { cost_usd, usage: { input_tokens: 10, output_tokens: 5 } });
  await settle(10);
}

const say = async (on: World, session_id: string, text: string) => {
  const receipt = await on.manager.input({ session_id, message: user(text) });
  await settle(10);
  return receipt;
};

const figures = async (on: World, session_id: string) =>
  (await on.manager.view(session_id)).budgets?.map(({ limit, used, reserved, holder }) => ({
    ...{ limit, used, reserved },
    ...(holder === undefined ? {} : { holder }),
  }));

test("a used-up budget holds the queue and asks; when it is raised, the message is delivered", async () => {
  const on = await world();
  await spawn(on, "a", { name: "lead", ...usd(1) });
  await settle(10);
  await pay(on, "a", 1.2);
  expect(await pending(on)).toEqual([]); // nothing waits
  await say(on, "a", "more");
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
  const view = await on.manager.view("a");
  expect(view).toMatchObject({ activity_state: "waiting_permission", queued: 1, pending_requests: 1 });
  expect(view.held).toBe('the budget of "lead": $1.20 of $1.00 used');
  const row = await only(on);
  expect(row).toMatchObject({ request_type: "budget", session_id: "a" });
  expect(row.payload.choices.map(({ decision, option, label }) => [decision, option, label])).toEqual([
    ["accept", undefined, "Raise to $1.70"],
    ["accept", "double", "Raise to $2.20"],
    ["decline", undefined, "Leave it held"],
    ["cancel", undefined, "Stop its sessions"],
  ]);
  await answer(on, row, { decision: "accept", option: "double" });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "more"]);
  expect(await on.manager.view("a")).toMatchObject({ budget: { max_cost_usd: 2.2 }, pending_requests: 0 });
  expect(await pending(on)).toEqual([]);
});

test("use that goes over the limit interrupts each running turn of the family once, and they continue after a raise", async () => {
  const on = await world();
  await spawn(on, "lead", usd(1));
  for (const id of ["a", "b"]) await spawn(on, id, { parent: "lead" });
  await settle(10);
  runOf(on, "a").used({ cost_usd: 0.6 });
  await settle();
  expect(runOf(on, "lead").interrupts).toBe(0);
  runOf(on, "b").used({ cost_usd: 0.5 });
  runOf(on, "b").used({ cost_usd: 0.6 });
  await settle(10);
  expect(["lead", "a", "b"].map((id) => runOf(on, id).interrupts)).toEqual([1, 1, 1]);
  const ended = await on.manager.view("b");
  expect(ended.last_result).toMatchObject({
    subtype: "max_budget",
    error: { code: "budget_exhausted", message: "the budget of session lead: $1.10 of $1.00 used" },
  });
  expect(ended.cost_usd).toBe(0.6);
  expect(await figures(on, "a")).toEqual([{ limit: 1, used: 1.2, reserved: 0, holder: "lead" }]);
  const row = await only(on);
  expect(row.session_id).toBe("lead");
  await on.manager.mark("lead", { budget: { max_cost_usd: 9 } });
  await settle(10);
  for (const id of ["lead", "a", "b"])
    expect(textsOf(runOf(on, id))).toEqual([`do ${id}`, expect.stringContaining("There is budget again")]);
});

test("an answer to stop stops the tree; one to leave it is not asked again until something else waits", async () => {
  const on = await world();
  await spawn(on, "lead", usd(1));
  await spawn(on, "a", { parent: "lead" });
  await settle(10);
  await pay(on, "a", 0.1);
  await pay(on, "lead", 1);
  await say(on, "a", "one");
  await answer(on, await only(on), { decision: "decline" });
  await settle(10);
  expect(await pending(on)).toEqual([]);
  expect(await on.manager.view("a")).toMatchObject({
    queued: 1,
    held: expect.stringContaining("$1.10 of $1.00"),
  });
  await say(on, "a", "two");
  await answer(on, await only(on), { decision: "cancel" });
  await settle(20);
  for (const id of ["lead", "a"])
    expect(await on.manager.view(id)).toMatchObject({
      activity_state: "stopped",
      stopped_at_ms: expect.any(Number),
    });
  expect(await pending(on)).toEqual([]);
});

test("a person's change of the limit settles the request and continues the queue", async () => {
  const on = await world();
  await spawn(on, "a", usd(1));
  await settle(10);
  await pay(on, "a", 1);
  await say(on, "a", "more");
  const row = await only(on);
  await on.manager.mark("a", { budget: { max_cost_usd: 3 } });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "more"]);
  expect(on.store.ledger.get(row.request_id)).toMatchObject({ status: "withdrawn" });
  await expect(on.manager.mark("a", { budget: { max_cost_usd: 0.5 } })).rejects.toMatchObject({
    code: "budget_exhausted",
    message: expect.stringContaining("at least $1.00"),
  });
});

test("who waits for a session is told that a person has to act, but not while only another turn has to end", async () => {
  const on = await world();
  await spawn(on, "lead", usd(2));
  for (const id of ["a", "b"]) await spawn(on, id, { parent: "lead", wakes_parent: false });
  await settle(10);
  for (const [id, cost] of [
    ["lead", 0],
    ["a", 0.9],
    ["b", 0.2],
  ] as const)
    await pay(on, id, cost);
  await say(on, "a", "more");
  await say(on, "b", "more");
  const wait = () => on.manager.wait({ session_id: "b", until: ["idle", "blocked"], timeoutMs: 0 });
  expect(await wait()).toMatchObject({
    reason: "timeout",
    session: { held: expect.stringContaining("running turn") },
  });
  await pay(on, "a", 0.9);
  expect(await wait()).toMatchObject({ reason: "blocked", session: { pending_requests: 0 } });
});

test("a change of the limits with something that is refused changes nothing", async () => {
  const on = await world();
  await spawn(on, "a", usd(1));
  await settle(10);
  const change = { budget: { max_cost_usd: 3 }, name: "new", archived: true };
  await expect(on.manager.mark("a", change)).rejects.toMatchObject({ code: "session_busy" });
  const before = await on.manager.view("a");
  expect(before).toMatchObject({ budget: { max_cost_usd: 1 } });
  expect(before.name).toBeUndefined();
  await pay(on, "a", 0.5);
  await on.manager.mark("a", change);
  expect(await on.manager.view("a")).toMatchObject({ budget: { max_cost_usd: 3 }, name: "new" });
});

test("max_turns counts turns when they start, also over children, and refuses a spawn", async () => {
  const on = await world();
  await spawn(on, "lead", { budget: { max_turns: 2 } });
  await spawn(on, "a", { parent: "lead" });
  await settle(10);
  await expect(spawn(on, "b", { parent: "lead" })).rejects.toMatchObject({
    code: "budget_exhausted",
    message: expect.stringContaining("2 of 2 turns used"),
  });
  await pay(on, "a", 0);
  await say(on, "a", "more");
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
  expect(runOf(on, "lead").interrupts).toBe(0);
});

test("grants of children are set aside when they are spawned, and return when they stop", async () => {
  const on = await world();
  await spawn(on, "lead", usd(3));
  await spawn(on, "a", { parent: "lead", ...usd(2) });
  await settle(10);
  await expect(spawn(on, "b", { parent: "lead", ...usd(1.5) })).rejects.toMatchObject({
    code: "budget_exhausted",
    message: expect.stringMatching(/\$0\.00 of \$3\.00 used, \$2\.00 set aside .* only \$1\.00 left/),
  });
  await pay(on, "a", 0.5);
  await on.manager.stop("a", { tree: false });
  await settle(10);
  await spawn(on, "b", { parent: "lead", ...usd(2.5) });
  expect(await figures(on, "lead")).toEqual([{ limit: 3, used: 0.5, reserved: 2.5 }]);
  expect((await on.manager.view("b")).budget).toEqual({ max_cost_usd: 2.5 });
});

test("two spawns at once cannot both have the last part", async () => {
  const on = await world();
  await spawn(on, "lead", usd(3));
  const both = await Promise.allSettled(["a", "b"].map((id) => spawn(on, id, { parent: "lead", ...usd(2) })));
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("what a deleted child used still counts, once; without --tree its children would lose their budget", async () => {
  const on = await world();
  await spawn(on, "lead", usd(3));
  await spawn(on, "a", { parent: "lead" });
  await spawn(on, "b", { parent: "a" });
  await settle(10);
  await pay(on, "a", 1);
  await pay(on, "b", 0.5);
  await expect(on.manager.remove("a", { tree: false })).rejects.toMatchObject({
    message: expect.stringContaining("--tree"),
  });
  await on.manager.remove("a", { tree: true });
  await settle(10);
  expect(await figures(on, "lead")).toEqual([{ limit: 3, used: 1.5, reserved: 0 }]);
});

test("time in turns counts, without the time a person takes to answer", async () => {
  const on = await world();
  await spawn(on, "a", { budget: { max_wall_s: 3600 } });
  await settle(10);
  const [wall] = (await on.manager.view("a")).budgets ?? [];
  expect(wall).toMatchObject({ limit_of: "max_wall_s", limit: 3600 });
  await on.manager.mark("a", { budget: { max_wall_s: 1 } });
  const { open: resolve, passed: promise } = gate();
  const end = on.manager.onChange(() => {
    if (runOf(on, "a").interrupts > 0) resolve();
  });
  await promise;
  end();
  await settle(10);
  expect((await on.manager.view("a")).last_result).toMatchObject({ subtype: "max_budget" });
});

test("an agent without a price: the limit says that it may not hold, the view that some has no price", async () => {
  const on = await world();
  const { notice } = await spawn(on, "a", { model: "m", ...usd(1) });
  expect(notice).toMatch(/counts only what fake m reports.*\[prices\.fake\]/);
  await settle(10);
  runOf(on, "a").result("success", { usage: { input_tokens: 10, output_tokens: 5 } });
  await settle(10);
  expect((await on.manager.view("a")).budgets).toMatchObject([{ used: 0, is_unpriced: true }]);
});

test("a price in the configuration turns tokens into money, also while the turn runs", async () => {
  const on = await world({
    prices: { fake: { m: { input: 100_000, cached_input: 10_000, output: 200_000 } } },
  });
  const { notice } = await spawn(on, "a", { model: "m", ...usd(3) });
  expect(notice).toBeUndefined();
  await settle(10);
  runOf(on, "a").event({ type: "agent.system_init", model: "m" });
  runOf(on, "a").used({ usage: { input_tokens: 10, cache_read_input_tokens: 10, output_tokens: 5 } });
  await settle();
  expect(await figures(on, "a")).toEqual([{ limit: 3, used: 2.1, reserved: 0 }]);
  runOf(on, "a").result("success", {
    usage: { input_tokens: 10, cache_read_input_tokens: 10, output_tokens: 5 },
  });
  await settle();
  expect(await on.manager.view("a")).toMatchObject({ cost_usd: 2.1 });
});

test("a restart in the middle of a turn loses no use, counts none twice, and asks again", async () => {
  const store = new FakeStore();
  const first = await world({ store });
  await spawn(first, "lead", usd(1));
  await spawn(first, "a", { parent: "lead" });
  await settle(10);
  await pay(first, "lead", 0.4);
  runOf(first, "a").used({ cost_usd: 0.7, usage: { input_tokens: 7, output_tokens: 1 } });
  await settle(20);
  const row = await only(first);
  for (const { stream } of first.hub.sessions) stream.close();

  const next = await world({ store: copy(store) });
  await settle(30);
  expect(await figures(next, "lead")).toEqual([{ limit: 1, used: 1.1, reserved: 0 }]);
  expect(await next.manager.view("a")).toMatchObject({ cost_usd: 0.7, queued: 1 });
  const again = await only(next);
  expect(again.request_id).not.toBe(row.request_id);
  const third = await world({ store: copy(next.store) });
  await settle(30);
  expect(await figures(third, "lead")).toEqual([{ limit: 1, used: 1.1, reserved: 0 }]);
});

test("a turn that the end of the daemon cuts counts, with what it had used", async () => {
  const store = new FakeStore();
  const first = await world({ store });
  await spawn(first, "a", { budget: { max_cost_usd: 5, max_turns: 5 } });
  await settle(10);
  runOf(first, "a").used({ cost_usd: 0.7, usage: { input_tokens: 7, output_tokens: 1 } });
  await settle(20);
  expect(await pending(first)).toEqual([]);
  for (const { stream } of first.hub.sessions) stream.close();
  const next = await world({ store: copy(store) });
  await settle(30);
  expect(await figures(next, "a")).toEqual([
    { limit: 5, used: 0.7, reserved: 0 },
    { limit: 5, used: 1, reserved: 0 },
  ]);
});

test("of the turns that wait for a raise, only as many start as it has room for", async () => {
  const on = await world();
  await spawn(on, "lead", { budget: { max_turns: 3 } });
  for (const id of ["a", "b"]) await spawn(on, id, { parent: "lead", wakes_parent: false });
  await settle(10);
  for (const id of ["lead", "a", "b"]) await pay(on, id, 0);
  for (const id of ["a", "b"]) await say(on, id, "more");
  await on.manager.mark("lead", { budget: { max_turns: 4 } });
  await settle(20);
  expect(["a", "b"].map((id) => textsOf(runOf(on, id)).length).sort()).toEqual([1, 2]);
  expect(await figures(on, "lead")).toEqual([{ limit: 4, used: 4, reserved: 0 }]);
});

test("a client that owns the session cannot send beyond its budget either", async () => {
  const on = await world();
  await spawn(on, "a", { budget: { max_turns: 1 } });
  await settle(10);
  await pay(on, "a", 0);
  const client = { id: "c" };
  await on.hub.open(client, new Ear(), { session_id: "a", backend: "fake", resume: true, options: {} });
  await expect(on.hub.send(client, "a", user("more"))).rejects.toMatchObject({
    code: "budget_exhausted",
    message: expect.stringContaining("1 of 1 turn used"),
  });
  await on.manager.mark("a", { budget: { max_turns: 2 } });
  await settle(10);
  await on.hub.send(client, "a", user("more"));
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "more"]);
  expect(await on.manager.view("a")).toMatchObject({ queued: 0 });
});

/** What a killed daemon leaves. */
function copy(store: FakeStore): FakeStore {
  const left = new FakeStore();
  for (const [id, row] of store.saved) left.saved.set(id, structuredClone(row));
  for (const [id, row] of store.ledger) left.ledger.set(id, structuredClone(row));
  left.log.push(...store.log);
  return left;
}
