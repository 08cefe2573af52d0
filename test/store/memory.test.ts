import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/store/index.ts";
import { batch, NO_LIMITS, row } from "./material.ts";

test("the memory store takes everything, keeps nothing and says so", async () => {
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
  });
  await store.delete("s");
  await store.close();
  await store.close();
});
