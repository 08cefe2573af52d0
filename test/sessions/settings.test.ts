// Model and permission mode of a session that exists: set in the running agent, kept for every later start, and refused
// where the agent or the rights do not allow it.
import { expect, test } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import type { Caller } from "../../src/sessions/index.ts";
import { gate, settle } from "./fakes.ts";
import { runOf, spawn, type World, world } from "./system.ts";

const AGENT: Caller = { actor: "agent:a", isAgent: true, isProven: true, peer_pid: 7, wire: "http" };

async function idle(on: World, session_id: string): Promise<void> {
  await settle();
  runOf(on, session_id).result();
  await settle(20);
}

const noticesOf = async (on: World, session_id: string) =>
  (await on.manager.events({ session_id, since_seq: 0, limit: 1_000, waitMs: 0 })).events
    .filter(({ frame }) => frame["category"] === "settings_changed")
    .map(({ frame }) => frame["data"]);

test("a running agent gets the change, and the next one starts with it", async () => {
  const on = await world();
  await spawn(on, "a", { cwd: "/w" });
  await settle();
  const reply = await on.manager.adjust("a", { model: "m-2", permission_mode: "plan" });
  expect(reply).toEqual({
    session_id: "a",
    running: true,
    model: { current: "m-2", values: [{ value: "m-1" }, { value: "m-2" }] },
    permission_mode: { current: "plan", values: [{ value: "plan" }] },
    commands: [{ name: "compact" }],
  });
  expect(runOf(on, "a").adjusted).toEqual([{ model: "m-2", permission_mode: "plan" }]);
  expect(await on.manager.view("a")).toMatchObject({ model: "m-2", permission_mode: "plan" });
  expect(on.store.saved.get("a")?.options).toMatchObject({ cwd: "/w", model: "m-2", mode: "plan" });
  expect(await noticesOf(on, "a")).toEqual([{ model: "m-2", permission_mode: "plan" }]);
  await on.manager.stop("a", { tree: false });
  await spawn(on, "b");
  await on.manager.input({ session_id: "a", message: { role: "user", content: "again" } });
  await settle();
  expect(runOf(on, "a").order.options).toMatchObject({ model: "m-2", mode: "plan" });
});

test("without an agent it is kept for the next start", async () => {
  const on = await world();
  await spawn(on, "a");
  await idle(on, "a");
  await on.manager.stop("a", { tree: false });
  expect(await on.manager.adjust("a", { model: "m-9" })).toMatchObject({ running: false });
  expect(runOf(on, "a").adjusted).toEqual([]);
  await on.manager.input({ session_id: "a", message: { role: "user", content: "again" } });
  await settle();
  expect(runOf(on, "a").order.options).toMatchObject({ model: "m-9" });
});

test("what the agent refuses changes nothing", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").stubborn = new CodedError("setting_refused", "not while it thinks");
  const before = structuredClone(on.hub.table.row("a"));
  await expect(on.manager.adjust("a", { permission_mode: "plan" })).rejects.toMatchObject({
    code: "setting_refused",
    message: "not while it thinks",
  });
  await expect(on.manager.adjust("a", { permission_mode: "none" })).rejects.toMatchObject({
    code: "invalid_message",
  });
  await expect(on.manager.adjust("none", { model: "m" })).rejects.toMatchObject({ code: "session_unknown" });
  expect(on.hub.table.row("a")).toEqual(before);
  expect(await noticesOf(on, "a")).toEqual([]);
});

test("an agent that takes settings only at its start says so", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  Object.defineProperty(runOf(on, "a"), "adjust", { value: undefined });
  await expect(on.manager.adjust("a", { model: "m" })).rejects.toMatchObject({
    code: "setting_refused",
    message: expect.stringContaining("only when it starts"),
  });
  on.backend.settings = undefined as unknown as typeof on.backend.settings;
  await expect(on.manager.adjust("a", { model: "m" })).rejects.toMatchObject({ code: "setting_refused" });
});

test("of two changes at once the second is refused: it was made from options that are no longer there", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  const slow = gate();
  runOf(on, "a").stuck = slow.passed;
  const first = on.manager.adjust("a", { model: "m-1" });
  await settle();
  const second = on.manager.adjust("a", { permission_mode: "plan" });
  await settle();
  slow.open();
  await first;
  await expect(second).rejects.toMatchObject({ code: "session_busy" });
  expect(on.store.saved.get("a")?.options).not.toHaveProperty("mode");
});

test("if the agent ends meanwhile, nothing is changed and other work goes on", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  runOf(on, "a").stubborn = new Error("gone");
  await expect(on.manager.adjust("a", { model: "m-1" })).rejects.toThrow();
  runOf(on, "a").result();
  await settle();
  expect(await on.manager.stop("a", { tree: false })).toEqual(["a"]);
});

test("a change that cannot be stored is in effect, and the caller is told", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  on.store.failing = true;
  await expect(on.manager.adjust("a", { model: "m-1" })).rejects.toMatchObject({ code: "store_failed" });
  on.store.failing = false;
  expect(runOf(on, "a").adjusted).toEqual([{ model: "m-1" }]);
});

test("an agent changes only sessions below it, and gives none more rights than it has", async () => {
  const on = await world();
  await spawn(on, "a", { options: { mode: "default" } });
  await spawn(on, "child", { parent: "a", options: { mode: "plan" } });
  await spawn(on, "stranger");
  await settle();
  const manager = on.manager.as(AGENT);
  for (const id of ["a", "stranger"])
    await expect(manager.adjust(id, { model: "m-1" })).rejects.toMatchObject({ code: "not_allowed" });
  await expect(manager.settings("stranger")).rejects.toMatchObject({ code: "not_allowed" });
  expect(await manager.adjust("child", { model: "m-1" })).toMatchObject({ model: { current: "m-1" } });
  // Within the agent's own rights, but wider than the child's.
  await expect(manager.adjust("child", { permission_mode: "default" })).rejects.toMatchObject({
    code: "not_allowed",
    message: expect.stringContaining("its mode allows more"),
  });
  await expect(manager.adjust("child", { permission_mode: "full" })).rejects.toMatchObject({
    code: "not_allowed",
  });
  expect(runOf(on, "child").adjusted).toEqual([{ model: "m-1" }]);
  // A person may.
  expect(await on.manager.adjust("child", { permission_mode: "default" })).toMatchObject({
    permission_mode: { current: "default" },
  });
  expect(await manager.adjust("child", { permission_mode: "plan" })).toMatchObject({
    permission_mode: { current: "plan" },
  });
});
