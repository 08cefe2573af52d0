// Edge cases of queues, families and limits that reviewers found: each was once wrong.
import { expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import { silentLog } from "../../src/base/log.ts";
import { drain } from "../../src/sessions/shutdown.ts";
import { Ear, gate, settle, user } from "./fakes.ts";
import { runOf, spawn, textsOf, type World, world } from "./system.ts";

const wakesOf = (on: World, session_id: string) =>
  (on.hub.table.row(session_id)?.inputs ?? []).filter(({ kind }) => kind === "wake");

/** A parent in the turn started by its child's wake. */
async function woken(): Promise<World> {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await spawn(on, "child", { parent: "root" });
  await settle();
  runOf(on, "child").result();
  await settle(30);
  return on;
}

test("starts again after a crash in a wake's turn, even if the queue is full", async () => {
  const on = await woken();
  for (let n = 0; n < 100; n += 1) await on.manager.input({ session_id: "root", message: user(`n${n}`) });
  const next = await world({ store: on.store });
  await expect(next.ready).resolves.toBeUndefined();
  await settle(20);
  expect(textsOf(runOf(next, "root"))[0]).toMatch(/daemon was restarted/);
});

test("repeats a wake after a graceful stop that cut its turn", async () => {
  const on = await woken();
  await on.quiet();
  await drain(on.hub, 0, new AbortController().signal, silentLog);
  const next = await world({ store: on.store });
  await settle(20);
  expect(textsOf(runOf(next, "root"))[0]).toMatch(/daemon was restarted/);
});

test("keeps a message that was accepted while an open failed", async () => {
  const before = await world();
  await spawn(before, "a");
  await settle();
  runOf(before, "a").result();
  await settle();
  const on = await world({ store: before.store });
  const slow = gate();
  on.backend.slow = slow.passed;
  on.backend.failing = new CodedError("spawn_failed", "gone");
  const order = { session_id: "a", backend: "fake", resume: true, options: {} };
  const opening = on.hub.open({ id: "c" }, new Ear(), order);
  opening.catch(() => undefined);
  await settle();
  await on.manager.input({ session_id: "a", message: user("meanwhile") });
  slow.open();
  await expect(opening).rejects.toMatchObject({ code: "spawn_failed" });
  await settle(20);
  expect((await on.manager.queue("a")).queued).toHaveLength(1);
  on.backend.slow = undefined;
  on.backend.failing = undefined;
  await on.manager.input({ session_id: "a", message: user("more") });
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["meanwhile"]);
});

test("does not deliver a message that was reported as not stored", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  const held = gate();
  on.store.held = held.passed;
  on.store.failing = true;
  const sending = on.manager.input({ session_id: "a", message: user("two") });
  sending.catch(() => undefined);
  await settle();
  runOf(on, "a").result();
  await settle();
  held.open();
  on.store.held = undefined;
  await expect(sending).rejects.toMatchObject({ code: "store_failed" });
  await settle(20);
  on.store.failing = false;
  expect((await on.manager.queue("a")).queued).toEqual([]);
  await on.manager.input({ session_id: "a", message: user("three") });
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["do a", "three"]);
});

test("counts a reopened session against the limit, and a spawned one once", async () => {
  const on = await world({ limits: { maxSessions: 2, maxSessionsPerClient: 9 } });
  for (const id of ["a", "b", "c"]) {
    await spawn(on, id);
    await settle();
    runOf(on, id).result();
    await settle();
  }
  expect(on.backend.alive).toHaveLength(2);
  const opens = ["a", "b", "c"].map((session_id) =>
    on.hub.open({ id: "c" }, new Ear(), { session_id, backend: "fake", resume: true, options: {} }),
  );
  const all = await Promise.allSettled(opens);
  expect(all.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(2);
  expect(on.backend.alive.length).toBeLessThanOrEqual(2);
  const slow = await world({ limits: { maxSessions: 2, maxSessionsPerClient: 9 } });
  const held = gate();
  slow.store.held = held.passed;
  const both = [spawn(slow, "x"), spawn(slow, "y")];
  await settle();
  held.open();
  slow.store.held = undefined;
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
});

test("notifies the parent of a child that a client closes or deletes with work left", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  for (const id of ["closed", "deleted"]) {
    await spawn(on, id, { parent: "root" });
    await on.manager.input({ session_id: id, message: user("more") });
    await settle();
    const client = { id: `owner of ${id}` };
    await on.hub.open(client, new Ear(), { session_id: id, backend: "fake", resume: true, options: {} });
    await on.hub.close(client, id, { delete: id === "deleted", deleteTranscript: false });
  }
  await settle(30);
  expect(
    wakesOf(on, "root")
      .map(({ message_id }) => message_id.split("_")[1])
      .sort(),
  ).toEqual(["closed", "deleted"]);
});

test("reports that a turn has ended even if the message after it cannot be delivered", async () => {
  const on = await world();
  await spawn(on, "root");
  await settle();
  runOf(on, "root").result();
  await spawn(on, "child", { parent: "root" });
  await settle();
  const run = runOf(on, "child");
  run.send = () => Promise.reject(new CodedError("invalid_message", "no images here"));
  await on.manager.input({ session_id: "child", message: user("bad") });
  run.result();
  await settle(40);
  expect(wakesOf(on, "root")).toHaveLength(2);
});

test("keeps a message that waits for a starting agent when the session is stopped", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  await on.manager.stop("a", { tree: false });
  const slow = gate();
  on.backend.slow = slow.passed;
  await on.manager.input({ session_id: "a", message: user("later") });
  await settle();
  const stopping = on.manager.stop("a", { tree: false });
  await settle(); // it is known before the agent is ready
  slow.open();
  await stopping;
  await settle(20);
  expect((await on.manager.queue("a")).queued).toHaveLength(1);
  expect(on.backend.alive).toEqual([]);
});

test("shows a session whose agent is being started as starting, not as stopped", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  await on.manager.stop("a", { tree: false });
  expect(await on.manager.view("a")).toMatchObject({ activity_state: "stopped" });
  const slow = gate();
  on.backend.slow = slow.passed;
  await on.manager.input({ session_id: "a", message: user("later") });
  await settle();
  expect(await on.manager.view("a")).toMatchObject({ activity_state: "starting", running: false });
  slow.open();
  await settle(20);
  expect(await on.manager.view("a")).toMatchObject({ activity_state: "working", running: true });
});

test("continues with the queue of a session that the disk failed to delete", async () => {
  const on = await world();
  await spawn(on, "a");
  await on.manager.input({ session_id: "a", message: user("second") });
  await settle();
  on.store.delete = () => Promise.reject(new Error("disk full"));
  await expect(on.manager.remove("a", { tree: false })).rejects.toMatchObject({ code: "store_failed" });
  await settle(20);
  expect(textsOf(runOf(on, "a"))).toEqual(["second"]);
});

test("options that an agent does not start with are not stored, whatever else is stored meanwhile", async () => {
  const on = await world();
  await spawn(on, "a", { options: { model: "old" } });
  await settle();
  runOf(on, "a").result();
  await settle(20);
  runOf(on, "a").end(false);
  await settle();
  const before = on.store.saved.get("a")?.options;
  const start = gate();
  on.backend.slow = start.passed;
  on.backend.failing = new CodedError("spawn_failed", "no such model");
  const order = { session_id: "a", backend: "fake", resume: true, options: { model: "new" } };
  const opened = expect(on.hub.open({ id: "ann" }, new Ear(), order)).rejects.toThrow("no such model");
  await settle();
  await on.manager.mark("a", { name: "called meanwhile" });
  start.open();
  await opened;
  expect(on.store.saved.get("a")).toMatchObject({ name: "called meanwhile", options: before });
  on.backend.failing = undefined;
  await on.hub.open({ id: "ann" }, new Ear(), order);
  expect(runOf(on, "a").order.options).toEqual({ model: "new" });
  await settle();
  expect(on.store.saved.get("a")?.options).toEqual({ model: "new" });
});

test("a session whose new names the disk refused has its old one again, however many were pending", async () => {
  const on = await world();
  await spawn(on, "a", { name: "old" });
  await settle(20);
  const disk = gate();
  on.store.held = disk.passed;
  on.store.failing = true;
  const renamed = ["new", "newer"].map((name) => expect(on.manager.mark("a", { name })).rejects.toThrow());
  await settle();
  disk.open();
  await Promise.all(renamed);
  expect(on.hub.table.row("a")?.name).toBe("old");
});
