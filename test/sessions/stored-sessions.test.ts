// Sessions that are only in the store: a start does not read them, and lists, lookups and families still have them.
import { expect, test } from "vitest";
import type { RowFilter } from "../../src/store/index.ts";
import { askOf, Ear, FakeStore, rowOf, settle } from "./fakes.ts";
import { runOf, spawn, type World, world } from "./system.ts";

class CountingStore extends FakeStore {
  readonly filters: RowFilter[] = [];

  override rows(filter: RowFilter = {}) {
    this.filters.push(filter);
    return super.rows(filter);
  }
}

/** Session n was active at n; every third is a child of the one before. */
async function filled(count: number): Promise<CountingStore> {
  const store = new CountingStore();
  for (let n = 0; n < count; n += 1) {
    const parent = n % 3 === 2 ? { parent: `s-${n - 1}` } : {};
    await store.saveRow(rowOf(`s-${n}`, { last_active_at_ms: n, name: `name ${n}`, ...parent }));
  }
  return store;
}

const idsOf = async (on: World, filter: Parameters<World["manager"]["views"]>[0]) =>
  (await on.manager.views(filter)).sessions.map(({ session_id }) => session_id);

async function readPages(on: World, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await on.manager.views({ limit, ...(after === undefined ? {} : { after }) });
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    ids.push(...page.sessions.map(({ session_id }) => session_id));
    after = page.next;
  }
  return ids;
}

test("a start reads unfinished sessions and a bounded number of recent ones, and loads only what has work", async () => {
  const store = await filled(300);
  const message = { role: "user" as const, content: "go on" };
  const queue = [{ message_id: "m", kind: "user" as const, message, queued_at_ms: 1 }];
  await store.saveRow(rowOf("s-7", { queue, last_active_at_ms: 7 }));
  store.filters.length = 0;
  const on = await world({ store });
  await settle();
  for (const { unfinished, ids = [], limit = Number.POSITIVE_INFINITY } of store.filters) {
    expect(unfinished === true || ids.length === 1 || limit <= 100).toBe(true);
  }
  expect([...on.hub.table.live.keys()]).toEqual(["s-7"]);
  expect(on.backend.runs.map(({ order }) => order.session_id)).toEqual(["s-7"]);
});

test("a page of the list reads as many rows as it needs, and pages have every session once", async () => {
  const store = await filled(25);
  const on = await world({ store });
  // Loaded, with the activity of now, or as it was: in its place among the others.
  await spawn(on, "fresh");
  await on.hub.table.revive("s-12");
  const all = await idsOf(on, {});
  expect(all.slice(0, 3)).toEqual(["fresh", "s-24", "s-23"]);
  expect(all).toHaveLength(26);
  expect(new Set(all).size).toBe(26);
  for (const limit of [1, 2, 7, 25, 26, 27]) expect(await readPages(on, limit)).toEqual(all);
  store.filters.length = 0;
  await on.manager.views({ limit: 3 });
  expect(store.filters).toEqual([{ limit: 3 + 1 + 2 }]); // two may be in memory
  await expect(on.manager.views({ after: "yesterday" })).rejects.toMatchObject({ code: "invalid_message" });
});

test("filters apply to sessions in memory and to stored ones", async () => {
  const on = await world({ store: await filled(12) });
  await spawn(on, "s-live", { name: "name 4", parent: "s-4" });
  expect(await idsOf(on, { name: "name 4" })).toEqual(["s-live", "s-4"]);
  expect(await idsOf(on, { parent: "s-4" })).toEqual(["s-live", "s-5"]);
  expect(await idsOf(on, { prefix: "s-1" })).toEqual(["s-11", "s-10", "s-1"]);
  expect(await idsOf(on, { live: true })).toEqual(["s-live"]);
  expect(await idsOf(on, { state: ["working"] })).toEqual(["s-live"]);
  expect(await idsOf(on, { state: ["stopped"], limit: 2 })).toEqual(["s-11", "s-10"]);
});

test("a session shows its children, loaded or not, and those that are added or deleted meanwhile", async () => {
  const on = await world({ store: await filled(6) });
  const childrenOf = async (id: string) => (await on.manager.view(id)).children;
  expect(await childrenOf("s-4")).toEqual(["s-5"]);
  await on.hub.table.revive("s-4");
  expect(await childrenOf("s-4")).toEqual(["s-5"]);
  await spawn(on, "new", { parent: "s-4" });
  expect(await childrenOf("s-4")).toEqual(["s-5", "new"]);
  await on.manager.remove("s-5", { tree: false });
  expect(await childrenOf("s-4")).toEqual(["new"]);
  await on.manager.remove("new", { tree: false });
  expect(await childrenOf("s-4")).toEqual([]);
  await spawn(on, "s-5", { parent: "s-4" });
  expect((await on.manager.family("s-4")).map(({ depth, session }) => [depth, session.session_id])).toEqual([
    [0, "s-4"],
    [1, "s-5"],
  ]);
});

test("a request of a child counts for ancestors that are not in memory, and their views say so", async () => {
  const on = await world({ store: await filled(3) });
  const heard: [string, number][] = [];
  on.manager.onChange((change) => {
    if (change.kind === "session")
      heard.push([change.session.session_id, change.session.family_pending_requests]);
  });
  await spawn(on, "asker", { parent: "s-2" });
  await settle();
  runOf(on, "asker").ask(askOf("one"));
  await settle(10);
  const [top] = (await on.manager.views({ name: "name 1" })).sessions;
  expect(top).toMatchObject({ session_id: "s-1", family_pending_requests: 1, pending_requests: 0 });
  expect(heard).toContainEqual(["s-1", 1]);
  expect(on.hub.table.live.has("s-1")).toBe(false);
});

test("family limits count relatives that are in memory, also those created at the same time, not finished ones", async () => {
  const store = await filled(3);
  const family = { limits: { maxChildren: 2, maxDepth: 6, maxSize: 256 }, stallMs: 0, retryMs: 5 };
  const on = await world({ store, family });
  // s-1 has one stored child.
  expect((await on.manager.family("s-1")).length).toBeGreaterThan(1);
  await spawn(on, "before", { parent: "s-1" });
  const outcomes = await Promise.allSettled(["a", "b", "c"].map((id) => spawn(on, id, { parent: "s-1" })));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a spawn with the key of a stored session is that session, whichever id it was given", async () => {
  const store = new FakeStore();
  const before = await world({ store });
  await spawn(before, "mine", { key: "k" });
  await settle();
  const on = await world({ store });
  expect(await spawn(on, "mine", { key: "k" })).toMatchObject({
    repeated: true,
    session: { session_id: "mine" },
  });
});

test("the socket's list has the stored sessions of agents without transcripts", async () => {
  const on = await world({ store: await filled(4) });
  await on.hub.open({ id: "c" }, new Ear(), {
    session_id: "s-1",
    backend: "fake",
    resume: true,
    options: {},
  });
  const rows = await on.hub.list({});
  expect(rows.map(({ session_id }) => session_id).sort()).toEqual(["s-0", "s-1", "s-2", "s-3"]);
});
