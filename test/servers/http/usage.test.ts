// GET /usage: days and times of its range, in the client's time zone; what is refused.
import { expect, test } from "vitest";
import type { Call, Services } from "../../../src/servers/http/route.ts";
import { USAGE_ROUTES, UsageQuery } from "../../../src/servers/http/routes/usage.ts";
import type { UsageOrder } from "../../../src/sessions/index.ts";

async function read(query: object): Promise<UsageOrder> {
  const orders: UsageOrder[] = [];
  const services = { manager: { usage: (order: UsageOrder) => orders.push(order) } } as unknown as Services;
  const call = { query: UsageQuery.parse(query) } as unknown as Call<unknown, unknown>;
  await (async () => USAGE_ROUTES[0]?.handle(call, services))();
  const [order] = orders;
  if (order === undefined) throw new Error("not asked");
  return order;
}
const utc = (text: string): number => Date.parse(`${text}Z`);

test("days are whole days of the time zone, the last one included", async () => {
  const range = { from: "2026-03-29", to: "2026-03-29", time_zone: "Europe/Berlin" };
  expect(await read(range)).toMatchObject({
    ...{ by: "day", time_zone: "Europe/Berlin" },
    from_ms: utc("2026-03-28T23:00"),
    to_ms: utc("2026-03-29T22:00"),
  });
});

test("times are taken as they are, and the default is thirty days until now", async () => {
  expect(await read({ from: "5", to: "9", by: "agent" })).toMatchObject({
    from_ms: 5,
    to_ms: 9,
    by: "agent",
    limit: 100,
  });
  const { from_ms, to_ms } = await read({ time_zone: "UTC" });
  expect((to_ms - from_ms) / 86_400_000).toBeGreaterThan(29);
  expect((to_ms - from_ms) / 86_400_000).toBeLessThanOrEqual(30.0001);
  expect(from_ms % 86_400_000).toBe(0);
});

test.each([
  [{ from: "2026-01-02", to: "2026-01-01" }, /from: must be before/],
  [{ from: "1990-01-01" }, /at most 4000 days/],
  [{ time_zone: "Mars/Olympus" }, /unknown time zone/],
  [{ from: "31.1.2026" }, /expected a day/],
])("%j is refused", async (query, message) => {
  await expect(read(query)).rejects.toThrow(message);
});
