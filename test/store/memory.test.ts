import { expect, test } from "vitest";
import { createMemoryStore, type RequestFilter } from "../../src/store/index.ts";
import { testPaging } from "./conformance-ledger.ts";
import { batch, MARKED, marked, NO_LIMITS, request, row } from "./material.ts";

test("the memory store takes every frame and row, keeps none and says so", async () => {
  const store = createMemoryStore();
  expect(store.durable).toBe(false);
  expect(await store.append({ batches: [batch("s", 1)], rows: [row("s")], sync: true })).toEqual([
    undefined,
    undefined,
  ]);
  await store.saveRow(row("s"));
  expect(await store.loadRow("s")).toBeUndefined();
  expect(await store.rows()).toEqual([]);
  expect(await store.read("s", 0, 1_000)).toBeUndefined();
  expect(await store.prune({ ...NO_LIMITS, maxRowsPerSession: 1 })).toEqual({
    sessions: 0,
    events: 0,
    bytes: 0,
    over_total: 0,
  });
  await store.delete("s");
  await store.close();
  await store.close();
});

test("the memory store has no run marks: the frames that they belong to are gone", async () => {
  const store = createMemoryStore();
  await store.append({ batches: [marked(batch("s", 1), "r", 10)], rows: [], sync: true });
  expect(await store.runMarks(MARKED)).toEqual([]);
});

test("the memory store keeps the ledger: upserted, filtered, in order, removed with its session", async () => {
  const store = createMemoryStore();
  const requests = [
    request("s", "young", { requested_at_ms: 9 }),
    request("s", "old", { requested_at_ms: 1, status: "withdrawn" }),
    request("t", "other", { requested_at_ms: 5 }),
  ];
  const outcome = await store.append({ batches: [batch("s", 1)], rows: [], requests, sync: true });
  expect(outcome).toEqual([undefined, undefined, undefined, undefined]);
  const ids = async (filter: RequestFilter) =>
    (await store.requests(filter)).map(({ request_id }) => request_id);
  expect(await ids({})).toEqual(["old", "other", "young"]);
  expect(await ids({ session_id: "s", open: true })).toEqual(["young"]);
  const orphaned = request("s", "young", { requested_at_ms: 9, status: "orphaned" });
  await store.append({ batches: [], rows: [], requests: [orphaned], sync: true });
  expect(await store.request("s", "young")).toEqual(orphaned);
  await store.delete("s");
  expect(await ids({})).toEqual(["other"]);
});

testPaging("memory", async () => createMemoryStore());

test("later changes to a row by the caller do not change the memory store", async () => {
  const store = createMemoryStore();
  const mine = request("s", "r");
  await store.append({ batches: [], rows: [], requests: [mine], sync: true });
  mine.status = "resolved";
  const [found] = await store.requests({});
  if (found !== undefined) found.status = "expired";
  expect(await store.request("s", "r")).toEqual(request("s", "r"));
});

test("the memory store drops settled rows beyond 1,000, the oldest first, and no open one", async () => {
  const store = createMemoryStore();
  const settled = Array.from({ length: 1_003 }, (_, n) =>
    request("s", `r${n}`, { requested_at_ms: 10_000 - n, status: "orphaned" }),
  );
  const open = request("s", "open", { requested_at_ms: 1 });
  await store.append({ batches: [], rows: [], requests: [open, ...settled], sync: true });
  const kept = await store.requests({});
  expect(kept).toHaveLength(1_001);
  expect(kept.slice(0, 2)).toEqual([open, settled[999]]);
});

test("the memory store prunes settled rows that are too old", async () => {
  const store = createMemoryStore();
  const requests = [
    request("s", "old", { status: "orphaned" }),
    request("s", "young", { status: "orphaned", requested_at_ms: Date.now() }),
    request("s", "open"),
  ];
  await store.append({ batches: [], rows: [], requests, sync: true });
  await store.prune(NO_LIMITS);
  expect(await store.requests({})).toHaveLength(3);
  await store.prune({ ...NO_LIMITS, maxAgeMs: 60_000 });
  expect(await store.request("s", "old")).toBeUndefined();
  expect(await store.requests({})).toHaveLength(2);
});
