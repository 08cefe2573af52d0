// The manager's operations on sessions, with fakes: spawn, inspect, send, wait, stop, delete, and families.
import { expect, test, vi } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import type { ChangeView } from "../../src/protocol/wire/http.ts";
import { PATIENT } from "../support/patience.ts";
import { askOf, Ear, FakeBackend, gate, settle, user } from "./fakes.ts";
import { runOf, spawn, textsOf, world } from "./system.ts";

test("spawns a session with the requested options, and shows it", async () => {
  const on = await world();
  const { session, repeated } = await spawn(on, "a", {
    name: "worker",
    cwd: "/w",
    model: "m1",
    budget: { max_cost_usd: 2 },
  });
  await settle();
  expect(repeated).toBe(false);
  expect(session).toMatchObject({ session_id: "a", name: "worker", cwd: "/w", model: "m1", managed: true });
  expect(await on.manager.view("a")).toMatchObject({
    activity_state: "working",
    running: true,
    attached: false,
    queued: 0,
    budget: { max_cost_usd: 2 },
    turn: { turn_id: expect.any(String) },
  });
  expect(runOf(on, "a").order.options).toMatchObject({ cwd: "/w", model: "m1", approvals: true });
  runOf(on, "a").result();
  await settle();
  expect(await on.manager.view("a")).toMatchObject({
    activity_state: "idle",
    last_result: { subtype: "success" },
  });
});

test("a session's own request_timeout_s counts instead of the daemon's", async () => {
  const on = await world({ expiryMs: 60_000 });
  for (const [id, more] of [
    ["plain", {}],
    ["short", { request_timeout_s: 5 }],
    ["never", { request_timeout_s: 0 }],
  ] as const) {
    await spawn(on, id, more);
    await settle();
    runOf(on, id).ask(askOf("one"));
  }
  await settle();
  const { requests } = await on.manager.requests({});
  const waits = requests.map(({ session_id, requested_at_ms, expires_at_ms }) => [
    session_id,
    expires_at_ms === undefined ? undefined : expires_at_ms - requested_at_ms,
  ]);
  expect(Object.fromEntries(waits)).toEqual({ plain: 60_000, short: 5_000, never: undefined });
});

test("refuses an unknown backend, an unknown parent and an id that is taken", async () => {
  const on = await world();
  await expect(on.manager.spawn({ backend: "nope" })).rejects.toMatchObject({ code: "unknown_backend" });
  await expect(spawn(on, "a", { parent: "ghost" })).rejects.toMatchObject({ code: "session_unknown" });
  await spawn(on, "a");
  await expect(spawn(on, "a")).rejects.toMatchObject({ code: "session_exists" });
});

test("blocks input while a request is pending, with the oldest request, and lets `now` through", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").ask(askOf("one"));
  await settle();
  await expect(on.manager.input({ session_id: "a", message: user("more") })).rejects.toMatchObject({
    code: "pending_structured_request",
    data: { request_id: expect.stringMatching(/^req_/), request_type: "command" },
  });
  const { input } = await on.manager.input({ session_id: "a", message: user("stop that"), now: true });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "stop that"]);
  expect((await on.manager.queue("a")).recent[0]).toMatchObject({
    message_id: input.message_id,
    state: "delivered",
  });
});

test("delivers `now` at once when nothing runs, and does not interrupt", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  await on.manager.input({ session_id: "a", message: user("quick"), now: true });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "quick"]);
  expect(runOf(on, "a").calls).not.toContain("interrupt");
});

test("keeps the queue when a session is stopped, until a message is sent to it", async () => {
  const on = await world();
  await spawn(on, "a");
  await on.manager.input({ session_id: "a", message: user("second") });
  await settle();
  await on.manager.stop("a", { tree: false });
  await settle(10);
  expect(on.backend.alive).toEqual([]);
  expect((await on.manager.queue("a")).queued).toHaveLength(1);
  await on.manager.input({ session_id: "a", message: user("third") });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["second"]);
});

test("ends the longest idle agent when there are too many, and refuses when none is idle", async () => {
  const on = await world({ limits: { maxSessions: 2, maxSessionsPerClient: 2 } });
  await spawn(on, "a");
  await spawn(on, "b");
  await settle();
  await expect(spawn(on, "c")).rejects.toMatchObject({
    code: "session_exists",
    message: expect.stringMatching(/max_concurrent_sessions/),
  });
  runOf(on, "a").result();
  await settle();
  await spawn(on, "c");
  await settle();
  expect(runOf(on, "a").isOver).toBe(true);
  expect(runOf(on, "b").isOver).toBe(false);
  runOf(on, "b").result();
  await settle();
  await on.manager.input({ session_id: "a", message: user("come back") });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["come back"]);
  expect(runOf(on, "b").isOver).toBe(true);
});

test("notifies the client that drives a session when it is deleted", async () => {
  const on = await world();
  const ear = new Ear();
  await on.hub.open({ id: "c1" }, ear, { session_id: "s", backend: "fake", resume: false, options: {} });
  await on.manager.remove("s", { tree: false });
  expect(ear.of("closed")).toEqual([{ type: "closed", reason: "deleted" }]);
});

test("deletes a session whose backend is no longer available", async () => {
  const before = await world();
  await spawn(before, "a");
  await settle();
  runOf(before, "a").result();
  await settle();
  const row = before.store.saved.get("a");
  if (row !== undefined) before.store.saved.set("a", { ...row, backend: "gone" });
  const on = await world({ store: before.store });
  expect(await on.manager.view("a")).toMatchObject({ provider: "gone" });
  expect(await on.manager.remove("a", { tree: false })).toEqual(["a"]);
  expect(on.store.saved.has("a")).toBe(false);
});

test("sends to a session that is only in the store", async () => {
  const before = await world();
  await spawn(before, "a");
  await settle();
  runOf(before, "a").result();
  await settle();
  const on = await world({ store: before.store });
  expect(await on.manager.view("a")).toMatchObject({ activity_state: "stopped", running: false });
  await on.manager.input({ session_id: "a", message: user("go on") });
  await settle();
  expect(textsOf(runOf(on, "a"))).toEqual(["go on"]);
  expect(runOf(on, "a").order.resume).toBe(true);
});

test("continues with the queues when the daemon starts again", async () => {
  const before = await world();
  await spawn(before, "a");
  await before.manager.input({ session_id: "a", message: user("second") });
  const on = await world({ store: before.store });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["second"]);
});

test("waits until a session is idle, blocked, or has finished a message", async () => {
  const on = await world();
  const { message_id } = await spawn(on, "a");
  const idle = on.manager.wait({ session_id: "a", until: ["idle"], timeoutMs: 5_000 });
  const blocked = on.manager.wait({ session_id: "a", until: ["idle", "blocked"], timeoutMs: 5_000 });
  const done = on.manager.wait({
    session_id: "a",
    until: [],
    ...(message_id === undefined ? {} : { message_id }),
    timeoutMs: 5_000,
  });
  await settle();
  runOf(on, "a").ask(askOf("one"));
  expect(await blocked).toMatchObject({ reason: "blocked", session: { pending_requests: 1 } });
  runOf(on, "a").withdraw("one");
  runOf(on, "a").result();
  expect(await idle).toMatchObject({ reason: "idle", session: { activity_state: "idle" } });
  expect(await done).toMatchObject({ reason: "input_done", input: { state: "done", outcome: "success" } });
  const late = await on.manager.wait({ session_id: "a", until: ["blocked"], timeoutMs: 1 });
  expect(late.reason).toBe("timeout");
});

test("stops a session until a message is sent to it, and a whole tree", async () => {
  const on = await world();
  await spawn(on, "root");
  await spawn(on, "child", { parent: "root" });
  await spawn(on, "grandchild", { parent: "child" });
  await settle();
  expect(await on.manager.stop("root", { tree: true })).toEqual(["root", "child", "grandchild"]);
  expect(on.backend.alive).toEqual([]);
  expect(await on.manager.view("child")).toMatchObject({ activity_state: "stopped", running: false });
  await settle(10);
  expect(on.backend.alive).toEqual([]);
  await on.manager.input({ session_id: "root", message: user("again") });
  await settle();
  expect(on.backend.alive).toHaveLength(1);
});

test("deletes a session with its history, and notifies listeners", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  const seen: ChangeView[] = [];
  const end = on.manager.onChange((change) => seen.push(change));
  expect(await on.manager.remove("a", { tree: false })).toEqual(["a"]);
  end();
  expect(on.store.saved.has("a")).toBe(false);
  expect(seen).toContainEqual({ kind: "session_removed", session_id: "a" });
  await expect(on.manager.view("a")).rejects.toMatchObject({ code: "session_unknown" });
  expect(on.backend.alive).toEqual([]);
});

test("renames, and keeps the old name if the disk refuses the new one", async () => {
  const on = await world();
  await spawn(on, "a", { name: "old" });
  expect(await on.manager.mark("a", { name: "new" })).toMatchObject({ name: "new" });
  on.store.failing = true;
  await expect(on.manager.mark("a", { name: "newer" })).rejects.toMatchObject({ code: "store_failed" });
  expect(await on.manager.view("a")).toMatchObject({ name: "new" });
});

test("answers a spawned session's requests, and lists them for all its ancestors", async () => {
  const on = await world();
  await spawn(on, "root");
  await spawn(on, "child", { parent: "root" });
  await settle();
  runOf(on, "child").ask(askOf("one"));
  await settle();
  expect(await on.manager.view("root")).toMatchObject({ pending_requests: 0, family_pending_requests: 1 });
  const { requests } = await on.manager.requests({ session_id: "root", tree: true });
  expect(requests.map(({ session_id }) => session_id)).toEqual(["child"]);
  const [request] = requests;
  const answer = { decision: "accept" as const };
  const order = {
    session_id: "child",
    request_id: request?.request_id ?? "",
    answer,
    source: "api" as const,
  };
  expect(await on.manager.respond(order)).toMatchObject({ repeated: false, request: { status: "resolved" } });
  expect(runOf(on, "child").answered).toEqual([{ native_id: "one", answer }]);
  expect(await on.manager.respond(order)).toMatchObject({ repeated: true });
});

test("lets only the owner answer for a session that a client drives", async () => {
  const on = await world();
  const owner = { id: "c1" };
  const order = { session_id: "s", backend: "fake", resume: false, options: {} };
  await on.hub.open(owner, new Ear(), order);
  await on.hub.send(owner, "s", user("go"));
  on.backend.last.ask(askOf("one"));
  await settle();
  const [request] = (await on.manager.requests({})).requests;
  const answer = {
    session_id: "s",
    request_id: request?.request_id ?? "",
    answer: { decision: "accept" as const },
    source: "api" as const,
  };
  await expect(on.manager.respond(answer)).rejects.toMatchObject({ code: "answer_not_allowed" });
});

test("wakes the parent once for a child that finishes, when the parent is free", async () => {
  const on = await world();
  await spawn(on, "root");
  await spawn(on, "child", { parent: "root", name: "helper" });
  await settle();
  runOf(on, "child").event({
    type: "agent.message",
    role: "assistant",
    content: [{ type: "text", text: "all green" }],
  });
  runOf(on, "child").result();
  await settle(20);
  expect(textsOf(runOf(on, "root"))).toEqual(["do root"]);
  expect((await on.manager.queue("root")).queued).toMatchObject([{ kind: "wake", from: "child" }]);
  runOf(on, "root").result();
  await settle(20);
  const texts = textsOf(runOf(on, "root"));
  expect(texts).toHaveLength(2);
  expect(texts[1]).toMatch(/helper/);
  expect(texts[1]).toMatch(/all green/);
  runOf(on, "root").result();
  await settle(20);
  expect(textsOf(runOf(on, "root"))).toHaveLength(2);
});

test("wakes the parent once, wherever the daemon dies on the way", async () => {
  // Each prefix of the stored writes is a moment at which the daemon may have died.
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await settle();
  await spawn(on, "child", { parent: "root" });
  await settle();
  const from = on.store.orders.length;
  runOf(on, "child").result();
  await settle(30);
  expect(textsOf(runOf(on, "root"))).toHaveLength(2);
  const orders = [...on.store.orders];
  for (let at = from; at <= orders.length; at += 1) {
    const after = await world();
    for (const order of orders.slice(0, at)) await after.store.append(order);
    const next = await world({ store: after.store });
    const wakes = () => (next.hub.table.row("root")?.inputs ?? []).filter(({ kind }) => kind === "wake");
    const told = () => wakes().filter(({ message_id }) => !message_id.endsWith("_again"));
    // Before its result is stored the turn was cut, which is reported as well: always exactly one.
    await vi.waitFor(
      () => expect(told(), `died after write ${at} of ${orders.length}`).toHaveLength(1),
      PATIENT,
    );
    await settle(30);
    expect(told()).toHaveLength(1);
  }
});

test("repeats a wake if the daemon died with the turn that it started, but not a third time", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await spawn(on, "child", { parent: "root" });
  await settle();
  runOf(on, "child").result();
  await settle(30);
  const [, wake] = textsOf(runOf(on, "root"));
  // Killed in the middle of the parent's turn, twice.
  const second = await world({ store: on.store });
  await settle(30);
  const [again] = textsOf(runOf(second, "root"));
  expect(again).toMatch(/daemon was restarted/);
  expect(again).toContain(wake);
  const third = await world({ store: second.store });
  await settle(30);
  expect(third.backend.runs).toEqual([]);
});

test("does not wake a parent that stopped the child itself, nor for a child that continues", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await spawn(on, "child", { parent: "root" });
  await on.manager.input({ session_id: "child", message: user("and this") });
  await settle();
  runOf(on, "child").result();
  await settle(20);
  expect(textsOf(runOf(on, "child"))).toEqual(["do child", "and this"]);
  await on.manager.interrupt("child", "root");
  await settle(20);
  expect(textsOf(runOf(on, "root"))).toEqual(["do root"]);
});

test("wakes the parent when the work queued after the child's turn is cancelled", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await spawn(on, "child", { parent: "root" });
  await settle();
  const { input } = await on.manager.input({ session_id: "child", message: user("and this") });
  on.backend.failing = new CodedError("spawn_failed", "gone");
  runOf(on, "child").end(false, 1);
  await settle(20);
  expect(textsOf(runOf(on, "root"))).toEqual(["do root"]);
  await on.manager.cancelInput("child", input.message_id);
  await settle(20);
  expect(textsOf(runOf(on, "root"))).toHaveLength(2);
});

test("delivers nothing once the daemon is stopping", async () => {
  const on = await world();
  await spawn(on, "a");
  await on.manager.input({ session_id: "a", message: user("second") });
  await on.quiet();
  runOf(on, "a").result();
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a"]);
  const next = await world({ store: on.store });
  await settle(10);
  expect(textsOf(runOf(next, "a"))).toEqual(["second"]);
});

test("holds a child's messages when no agent can be started, and notifies its parent", async () => {
  const on = await world({ limits: { maxSessions: 2, maxSessionsPerClient: 2 } });
  await spawn(on, "a");
  await settle();
  on.backend.failing = new CodedError("spawn_failed", "gone");
  runOf(on, "a").end(false, 1);
  await on.manager.input({ session_id: "a", message: user("again") });
  await settle();
  expect(await on.manager.queue("a")).toMatchObject({ held: "gone", queued: [{ kind: "user" }] });
});

test("does not give the agent a message cancelled while it started, nor an older message before a more urgent one", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  await on.manager.stop("a", { tree: false });
  const slow = gate();
  on.backend.slow = slow.passed;
  const { input } = await on.manager.input({ session_id: "a", message: user("first") });
  await on.manager.input({ session_id: "a", message: user("second") });
  await on.manager.input({ session_id: "a", message: user("quick"), now: true });
  await settle();
  expect((await on.manager.cancelInput("a", input.message_id)).state).toBe("cancelled");
  slow.open();
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["quick"]);
  runOf(on, "a").result();
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["quick", "second"]);
  const states = on.hub.table.row("a")?.inputs?.map(({ state }) => state);
  expect(states).toEqual(["done", "cancelled", "delivered", "done"]);
});

test("refuses to open a stored session on another backend, and changes nothing", async () => {
  const before = await world();
  await spawn(before, "a", { name: "worker" });
  await settle();
  runOf(before, "a").result();
  await settle();
  const other = new FakeBackend();
  Object.defineProperty(other, "name", { value: "other" });
  const on = await world({ store: before.store, backends: [new FakeBackend(), other] });
  const order = { session_id: "a", backend: "other", resume: true, options: {} };
  await expect(on.hub.open({ id: "c" }, new Ear(), order)).rejects.toMatchObject({
    code: "session_exists",
    message: expect.stringMatching(/backend "fake"/),
  });
  expect(await on.manager.view("a")).toMatchObject({ backend: "fake", name: "worker", turns: 1 });
});

test("leaves a session unchanged if its agent does not start for an open, and an unknown one unknown", async () => {
  const before = await world();
  await spawn(before, "a", { name: "worker" });
  await settle();
  runOf(before, "a").result();
  await settle();
  const on = await world({ store: before.store });
  on.backend.failing = new CodedError("spawn_failed", "gone");
  for (const session_id of ["a", "new"]) {
    const order = { session_id, backend: "fake", resume: session_id === "a", options: {} };
    await expect(on.hub.open({ id: "c" }, new Ear(), order)).rejects.toMatchObject({ code: "spawn_failed" });
  }
  expect((await on.manager.views({})).sessions.map(({ session_id, name }) => [session_id, name])).toEqual([
    ["a", "worker"],
  ]);
});

test("continues with the queue while the agent works on after its turn, and when it exits during that", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  const run = runOf(on, "a") as { isBusy?: boolean } & ReturnType<typeof runOf>;
  run.isBusy = true;
  await on.manager.input({ session_id: "a", message: user("second") });
  run.result();
  await settle(20);
  expect(textsOf(run)).toEqual(["do a", "second"]);
});

test("delivers a stopped session's queue to its agent when a client opens it", async () => {
  const on = await world();
  await spawn(on, "a");
  await on.manager.input({ session_id: "a", message: user("second") });
  await settle();
  await on.manager.stop("a", { tree: false });
  await on.hub.open({ id: "c" }, new Ear(), { session_id: "a", backend: "fake", resume: true, options: {} });
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["second"]);
});

test("notifies the parent of a child that the user stops with messages queued, or deletes while working", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  for (const id of ["stopped", "deleted", "own"]) {
    await spawn(on, id, { parent: "root" });
    await on.manager.input({ session_id: id, message: user("more") });
  }
  await settle();
  await on.manager.stop("own", { tree: false, by: "root" });
  await on.manager.stop("stopped", { tree: false });
  await on.manager.remove("deleted", { tree: false });
  await settle(30);
  const told = (on.hub.table.row("root")?.inputs ?? []).filter(({ kind }) => kind === "wake");
  expect(told.map(({ message_id }) => message_id.split("_")[1]).sort()).toEqual(["deleted", "stopped"]);
});

test("keeps what the disk failed to remove: a deleted session, a cancelled message; and reports it for a stop", async () => {
  const on = await world();
  await spawn(on, "a");
  const { input } = await on.manager.input({ session_id: "a", message: user("second") });
  await settle();
  on.store.failing = true;
  on.store.delete = () => Promise.reject(new Error("disk full"));
  await expect(on.manager.cancelInput("a", input.message_id)).rejects.toMatchObject({ code: "store_failed" });
  expect((await on.manager.queue("a")).queued).toHaveLength(1);
  await expect(on.manager.stop("a", { tree: false })).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringMatching(/was ended/),
  });
  await expect(on.manager.remove("a", { tree: false })).rejects.toMatchObject({ code: "store_failed" });
  expect(await on.manager.view("a")).toMatchObject({ session_id: "a" });
});

test("blocks `now` too if the pending request does not belong to a turn", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  runOf(on, "a").ask(askOf("behind"));
  await settle();
  const order = { session_id: "a", message: user("quick"), now: true };
  await expect(on.manager.input(order)).rejects.toMatchObject({ code: "pending_structured_request" });
});

test("respects the limit of children even if several are spawned while there is no room", async () => {
  const limits = { maxChildren: 2, maxDepth: 6, maxSize: 256 };
  const on = await world({
    limits: { maxSessions: 3, maxSessionsPerClient: 2 },
    family: { limits, stallMs: 0, retryMs: 5 },
  });
  await spawn(on, "root");
  await spawn(on, "x");
  await spawn(on, "y");
  await settle();
  for (const id of ["x", "y"]) runOf(on, id).result();
  await settle();
  const spawns = [1, 2, 3, 4].map((n) => spawn(on, `c${n}`, { parent: "root" }));
  const all = await Promise.allSettled(spawns);
  expect(all.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(2);
});

test("notifies listeners when a client deletes its session over the socket", async () => {
  const on = await world();
  const owner = { id: "c" };
  await on.hub.open(owner, new Ear(), { session_id: "s", backend: "fake", resume: false, options: {} });
  const seen: ChangeView[] = [];
  on.manager.onChange((change) => seen.push(change));
  await on.hub.close(owner, "s", { delete: true, deleteTranscript: false });
  expect(seen).toContainEqual({ kind: "session_removed", session_id: "s" });
});

test("shows a session while its agent starts", async () => {
  const on = await world();
  const slow = gate();
  on.backend.slow = slow.passed;
  const spawning = spawn(on, "a");
  await settle();
  expect(await on.manager.view("a")).toMatchObject({ session_id: "a", running: false });
  slow.open();
  await spawning;
});

test("continues the queue of a stopped session, and of one whose agent could not be started, at once", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  await on.manager.input({ session_id: "a", message: user("later") });
  await on.manager.stop("a", { tree: false });
  expect(await on.manager.view("a")).toMatchObject({ queued: 1, stopped_at_ms: expect.any(Number) });
  expect(await on.manager.continueQueue("a")).toEqual({ queued: 1 });
  await settle(10);
  expect(textsOf(runOf(on, "a"))).toEqual(["later"]);
  expect((await on.manager.view("a")).stopped_at_ms).toBeUndefined();
  await spawn(on, "b");
  await settle();
  await on.manager.stop("b", { tree: false });
  expect(await on.manager.continueQueue("b")).toEqual({ queued: 0 });
  expect((await on.manager.view("b")).stopped_at_ms).toBeDefined();
});

test("a queue that cannot be continued on disk stays stopped", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  await on.manager.input({ session_id: "a", message: user("later") });
  await on.manager.stop("a", { tree: false });
  on.store.failing = true;
  await expect(on.manager.continueQueue("a")).rejects.toMatchObject({ code: "store_failed" });
  on.store.failing = false;
});

test("a turn that a shutdown ends is distinguished from one that a person interrupted", async () => {
  const on = await world();
  for (const id of ["cut", "asked"]) await spawn(on, id);
  await settle();
  await on.manager.interrupt("asked");
  await settle();
  for (const id of ["cut", "asked"]) await on.hub.table.live.get(id)?.close("shutdown");
  const results = (await on.store.rows()).map(({ session_id, last_result }) => [session_id, last_result]);
  expect(Object.fromEntries(results)).toMatchObject({
    cut: {
      subtype: "interrupted",
      error: { code: "daemon_shutdown", message: expect.stringContaining("stopped") },
    },
    asked: { subtype: "interrupted" },
  });
  expect(Object.fromEntries(results).asked).not.toHaveProperty("error");
});
