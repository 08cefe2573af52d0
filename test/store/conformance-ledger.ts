// The contract of every durable store for the ledger of requests; part of conformance.ts.
import { expect, onTestFinished, test } from "vitest";
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { RequestFilter, Store } from "../../src/store/index.ts";
import { append, batch, frames, NO_LIMITS, readAll, request, row, tempDir } from "./material.ts";

type Open = (opening: { dir: string; now(): number }) => Promise<Store>;

export function testLedger(name: string, open: Open): void {
  const openFresh = async (dir = tempDir()): Promise<Store> => {
    const store = await open({ dir, now: Date.now });
    onTestFinished(() => store.close());
    return store;
  };

  test(`${name}: a request comes back unchanged, alone and in the list`, async () => {
    const store = await openFresh();
    const whole = fullRequest("s", "r1");
    expect(await store.request("s", "r1")).toBeUndefined();
    expect(await store.requests({})).toEqual([]);
    const order = { batches: [batch("s", 1)], rows: [row("s")], requests: [whole], sync: true };
    expect(await store.append(order)).toEqual([undefined, undefined, undefined]);
    expect(await store.request("s", "r1")).toEqual(whole);
    expect(await store.requests({})).toEqual([whole]);
    expect(await store.request("s", "r")).toBeUndefined();
    expect(await store.request("t", "r1")).toBeUndefined();
    expect(await readAll(store, "s")).toBe(frames("s", 1, 1));
  });

  test(`${name}: an order may hold requests only, synced or not`, async () => {
    const store = await openFresh();
    expect(await save(store, request("s", "r1"))).toEqual([undefined]);
    const order = { batches: [], rows: [], requests: [request("s", "r2")], sync: false };
    expect(await store.append(order)).toEqual([undefined]);
    expect(await ids(store, {})).toEqual(["r1", "r2"]);
    expect(await store.rows()).toEqual([]);
    await append(store, batch("s", 1));
  });

  test(`${name}: a request is stored with the last batch of its session and refused with it`, async () => {
    const store = await openFresh();
    const requests = [request("b", "b1"), request("a", "a1"), request("c", "c1"), request("b", "b2")];
    const batches = [batch("a", 1, 2), batch("b", 7), batch("a", 3)];
    const outcome = await store.append({ batches, rows: [row("b")], requests, sync: true });
    const fault = expect.stringMatching(/does not follow/);
    expect(outcome).toEqual([undefined, fault, undefined, fault, fault, undefined, undefined, fault]);
    expect(await ids(store, {})).toEqual(["a1", "c1"]);
    await append(store, batch("b", 1, 9));
    expect(await ids(store, { session_id: "b" })).toEqual([]);
  });

  test(`${name}: a refused batch leaves the request unchanged, even if its seq is an old one`, async () => {
    const store = await openFresh();
    const before = request("s", "r1");
    await store.append({ batches: [batch("s", 1, 5)], rows: [], requests: [before], sync: true });
    for (const bad of [batch("s", 2, 3), batch("s", 7, 8), { ...batch("s", 6), bytes: new Uint8Array(0) }]) {
      const requests = [request("s", "r1", { status: "withdrawn" }), request("s", "r2")];
      const outcome = await store.append({ batches: [bad], rows: [], requests, sync: true });
      expect(outcome).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
      expect(await store.requests({})).toEqual([before]);
    }
    await append(store, batch("s", 6, 20));
    expect(await store.requests({})).toEqual([before]);
  });

  test(`${name}: a row with the same request_id replaces the older one`, async () => {
    const store = await openFresh();
    await save(store, request("s", "r1"), request("s", "r2"));
    const resolved = request("s", "r1", { status: "resolved", answer: { decision: "accept" } });
    const order = { batches: [batch("s", 1)], rows: [], requests: [resolved], sync: true };
    expect(await store.append(order)).toEqual([undefined, undefined]);
    expect(await store.requests({})).toEqual([resolved, request("s", "r2")]);
    const twice = [resolved, { ...resolved, dispatched_at_ms: 7 }];
    await save(store, ...twice);
    expect(await store.request("s", "r1")).toEqual(twice[1]);
    expect(await store.requests({})).toHaveLength(2);
  });

  test(`${name}: the list is oldest first, and filtered by session and by being open`, async () => {
    const store = await openFresh();
    await save(
      store,
      request("a", "r3", { requested_at_ms: 3 }),
      request("b", "r2", { requested_at_ms: 2, status: "expired" }),
      request("a", "r1-b", { requested_at_ms: 1, status: "resolved" }),
      request("a", "r1-a", { requested_at_ms: 1, status: "resolved", dispatched_at_ms: 4 }),
      request("a", "r0", { requested_at_ms: 0, status: "orphaned" }),
      request("b", "r4", { requested_at_ms: 4, status: "withdrawn", dispatched_at_ms: 4 }),
    );
    expect(await ids(store, {})).toEqual(["r0", "r1-a", "r1-b", "r2", "r3", "r4"]);
    expect(await ids(store, { session_id: "a" })).toEqual(["r0", "r1-a", "r1-b", "r3"]);
    expect(await ids(store, { open: true })).toEqual(["r1-b", "r2", "r3"]);
    expect(await ids(store, { session_id: "b", open: true })).toEqual(["r2"]);
    expect(await ids(store, { session_id: "b", open: false })).toEqual(["r2", "r4"]);
    expect(await ids(store, { session_id: "none" })).toEqual([]);
  });

  testPaging(name, () => openFresh());

  test(`${name}: the newest rows come first if asked for`, async () => {
    const store = await openFresh();
    for (const n of [2, 4, 1, 3])
      await save(
        store,
        request("a", `r${n}`, { requested_at_ms: n, status: n % 2 === 0 ? "pending" : "orphaned" }),
      );
    expect(await ids(store, { newest: true, limit: 3 })).toEqual(["r4", "r3", "r2"]);
  });

  test(`${name}: a rule's use is counted with the row, once per request, and outlives row and restart`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    const answered = (id: string, resolved_at_ms: number) =>
      request("s", id, { status: "resolved", rule_id: "r", resolved_at_ms });
    await save(before, request("s", "q1"), request("s", "q2"));
    expect(await before.ruleUses()).toEqual([]);
    await save(before, answered("q1", 5));
    await save(before, { ...answered("q1", 5), dispatched_at_ms: 6 }, answered("q2", 7));
    await save(before, { ...answered("q2", 7), status: "orphaned" });
    await before.delete("s");
    await before.close();
    const after = await openFresh(dir);
    expect(await after.ruleUses()).toEqual([{ rule_id: "r", uses: 2, last_used_at_ms: 7 }]);
  });

  test(`${name}: delete removes the requests of that session only, for good`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    for (const id of ["a", "a.requests", "ab"]) {
      const requests = [request(id, `of-${id}`)];
      await before.append({ batches: [batch(id, 1, 3)], rows: [row(id)], requests, sync: true });
    }
    await before.delete("a");
    expect(await before.request("a", "of-a")).toBeUndefined();
    expect(await ids(before, {})).toEqual(["of-a.requests", "of-ab"]);
    await append(before, batch("a", 1, 5));
    await before.close();
    expect(await ids(await openFresh(dir), {})).toEqual(["of-a.requests", "of-ab"]);
  });

  test(`${name}: requests survive a restart, with the changes of their last append`, async () => {
    const dir = tempDir();
    const before = await open({ dir, now: Date.now });
    const [first, second] = [fullRequest("s", "r1"), request("s", "r2")];
    await before.append({ batches: [batch("s", 1)], rows: [], requests: [first, second], sync: true });
    const gone = { ...second, status: "withdrawn" as const };
    await before.append({ batches: [batch("s", 2)], rows: [], requests: [gone], sync: true });
    await before.close();
    const after = await openFresh(dir);
    expect(await after.requests({ session_id: "s" })).toEqual([first, gone]);
    await append(after, batch("s", 3));
    expect(await after.request("s", "r2")).toEqual(gone);
  });

  test(`${name}: retention by age takes settled requests by the time they were asked, never open ones`, async () => {
    const store = await openFresh();
    const now = Date.now();
    const rows = [
      request("s", "old", { requested_at_ms: now - 90_000, status: "orphaned" }),
      request("s", "old-open", { requested_at_ms: now - 90_000 }),
      request("s", "old-undispatched", { requested_at_ms: now - 90_000, status: "resolved" }),
      request("s", "young", { requested_at_ms: now, status: "orphaned" }),
      request("only-old", "alone", { requested_at_ms: 0, status: "withdrawn" }),
    ];
    await store.append({ batches: [batch("s", 1, 2)], rows: [], requests: rows, sync: true });
    await store.prune(NO_LIMITS);
    expect(await ids(store, {})).toHaveLength(5);
    const counts = await store.prune({ ...NO_LIMITS, maxAgeMs: 60_000, maxRowsPerSession: 9 });
    expect(counts).toEqual({ sessions: 0, events: 0, bytes: 0, over_total: 0 });
    expect(await ids(store, {})).toEqual(["old-open", "old-undispatched", "young"]);
    expect(await store.request("only-old", "alone")).toBeUndefined();
    await append(store, batch("s", 3));
    expect(await readAll(store, "s")).toBe(frames("s", 1, 3));
  });
}

/** The contract of every store for pages of the list, including the in-memory one. */
export function testPaging(name: string, openFresh: () => Promise<Store>): void {
  test.each<RequestFilter>([
    {},
    { session_id: "a" },
    { open: true },
    { session_id: "b", open: true },
    { session_id: "none" },
  ])(`${name}: pages of %j are all of it, once and in order, also of equal times`, async (filter) => {
    const store = await openFresh();
    for (const rows of chunks(manyRequests(), 9)) await save(store, ...rows);
    const wanted = manyRequests().filter((row) => isWanted(row, filter));
    const order = wanted.toSorted((a, b) => {
      return a.requested_at_ms - b.requested_at_ms || (a.request_id < b.request_id ? -1 : 1);
    });
    expect(await store.requests(filter)).toEqual(order);
    for (const limit of [1, 2, 7, 1_000]) expect(await allPages(store, { ...filter, limit })).toEqual(order);
  });

  test(`${name}: a page may start after a removed row, and be empty`, async () => {
    const store = await openFresh();
    await save(store, ...manyRequests());
    const all = await store.requests({});
    const after = { requested_at_ms: 2, request_id: "" };
    const behind = all.filter((row) => row.requested_at_ms >= 2);
    expect(await store.requests({ after })).toEqual(behind);
    expect(await store.requests({ after, limit: 3 })).toEqual(behind.slice(0, 3));
    expect(await store.requests({ limit: 0 })).toEqual([]);
    expect(await store.requests({ after: { requested_at_ms: 1_000, request_id: "" }, limit: 3 })).toEqual([]);
  });
}

/** 60 rows of three sessions, seven with each time, unordered; one in four is open. */
function manyRequests(): RequestRow[] {
  return Array.from({ length: 60 }, (_, n) => {
    const at = (n * 37) % 60;
    const fields = {
      requested_at_ms: Math.floor(at / 7),
      status: n % 4 === 0 ? ("pending" as const) : ("orphaned" as const),
    };
    return request("abc"[n % 3] ?? "a", `r${String((at * 11) % 60).padStart(2, "0")}`, fields);
  });
}

function isWanted({ session_id, status }: RequestRow, filter: RequestFilter): boolean {
  if (filter.session_id !== undefined && session_id !== filter.session_id) return false;
  return filter.open !== true || status === "pending";
}

function chunks<T>(all: T[], size: number): T[][] {
  return all.length === 0 ? [] : [all.slice(0, size), ...chunks(all.slice(size), size)];
}

async function allPages(store: Store, filter: RequestFilter): Promise<RequestRow[]> {
  const all: RequestRow[] = [];
  for (let page = await store.requests(filter); page.length > 0; ) {
    expect(page.length).toBeLessThanOrEqual(filter.limit ?? 0);
    all.push(...page);
    const last = page.at(-1);
    page = last === undefined ? [] : await store.requests({ ...filter, after: last });
  }
  return all;
}

/** Stores rows without frames; returns the outcome. */
async function save(store: Store, ...requests: RequestRow[]): Promise<(string | undefined)[]> {
  return store.append({ batches: [], rows: [], requests, sync: true });
}

async function ids(store: Store, filter: RequestFilter): Promise<string[]> {
  return (await store.requests(filter)).map(({ request_id }) => request_id);
}

/** Every field that a row can have. */
function fullRequest(session_id: string, request_id: string): RequestRow {
  return request(session_id, request_id, {
    status: "resolved",
    thread_id: "th",
    turn_id: "tu",
    item_id: "it",
    path: ["root", "child"],
    payload: { title: "a\u2028b 🜁", input: { nested: [1, null, "x"] }, choices: [{ decision: "accept" }] },
    expires_at_ms: 6_000,
    answer: { decision: "accept", updated_input: { command: "ls" } },
    resolved_at_ms: 5_500,
    resolution_source: "api",
    dispatched_at_ms: 5_600,
    error_code: "request_expired",
    error_message: "too late",
  });
}
