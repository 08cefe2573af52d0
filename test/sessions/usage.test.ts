// What the sessions add to the sums: the order, pages, names, and projects of turns that were recorded without one.
import { expect, test } from "vitest";
import type { Observer } from "../../src/observe/index.ts";
import { noObserver } from "../../src/observe/none.ts";
import type { UsageSlice } from "../../src/observe/usage.ts";
import type { UsageGroupBy } from "../../src/protocol/usage-report.ts";
import { readUsage } from "../../src/sessions/views/usage.ts";
import { FakeStore, rowOf } from "./fakes.ts";

const slice = (key: string, over: Partial<UsageSlice> = {}): UsageSlice => ({
  ...{ key, turns: 1, turns_without_tokens: 0, turns_without_cost: 0, duration_ms: 1, waited_ms: 0 },
  ...over,
});

async function read(by: UsageGroupBy, slices: UsageSlice[], limit = 10, after?: string) {
  const observer: Observer = { ...noObserver, usage: async () => ({ slices }) };
  const store = new FakeStore();
  await store.saveRow({ ...rowOf("s1"), name: "first", cwd: "/srv/app" });
  await store.saveRow({ ...rowOf("s2"), cwd: "/srv/other" });
  const order = { by, from_ms: 0, to_ms: 9, time_zone: "UTC", limit };
  return readUsage({ observer, store }, after === undefined ? order : { ...order, after });
}

test("the most expensive come first, those without a cost by their tokens, days in order", async () => {
  const slices = [
    slice("small", { output_tokens: 5 }),
    slice("dear", { cost_usd: 2 }),
    slice("big", { input_tokens: 9 }),
    slice("cheap", { cost_usd: 1 }),
  ];
  const keys = async (by: UsageGroupBy) => (await read(by, slices)).groups.map(({ key }) => key);
  expect(await keys("agent")).toEqual(["dear", "cheap", "big", "small"]);
  expect(await keys("day")).toEqual(["small", "dear", "big", "cheap"]);
});

test("pages have every group once, and each the total of all", async () => {
  const slices = ["a", "b", "c", "d", "e"].map((key) => slice(key));
  const keys: string[] = [];
  for (let after: string | undefined = "0"; after !== undefined; ) {
    const page = await read("agent", slices, 2, after);
    expect(page.total.turns).toBe(5);
    keys.push(...page.groups.map(({ key }) => key));
    after = page.next;
  }
  expect(keys).toEqual(["a", "b", "c", "d", "e"]);
});

test("a turn without a project counts for that of its session, added to what is there", async () => {
  const slices = [
    slice("/srv/app", { cost_usd: 1 }),
    slice("", { session_id: "s1", cost_usd: 2 }),
    slice("", { session_id: "gone" }),
  ];
  expect((await read("project", slices)).groups).toEqual([
    slice("/srv/app", { turns: 2, duration_ms: 2, cost_usd: 3 }),
    slice(""),
  ]);
});

test("sessions have their names, agents and projects; one that is gone has its id", async () => {
  const { groups } = await read("session", [slice("s1", { cost_usd: 1 }), slice("gone")]);
  expect(groups).toMatchObject([
    { key: "s1", name: "first", agent: rowOf("s1").backend, project: "/srv/app" },
    { key: "gone" },
  ]);
});
