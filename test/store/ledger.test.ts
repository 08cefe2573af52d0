import { expect, test } from "vitest";
import { isSettled, REQUEST_STATUSES } from "../../src/protocol/requests.ts";
import { isOpen } from "../../src/store/ledger.ts";
import { createOutcome, markUnit, toUnits } from "../../src/store/units.ts";
import { batch, request, row } from "./material.ts";

test("open means not settled in the protocol, for every status", () => {
  for (const status of REQUEST_STATUSES) {
    for (const dispatched of [{}, { dispatched_at_ms: 1 }]) {
      const found = request("s", "r", { status, ...dispatched });
      expect(isOpen(found), `${status} ${JSON.stringify(dispatched)}`).toBe(!isSettled(found));
    }
  }
});

test("requests go with the last batch of their session, else with each other", () => {
  const order = {
    batches: [batch("a", 1), batch("b", 1), batch("a", 2)],
    rows: [row("c")],
    requests: [request("a", "a1"), request("c", "c1"), request("c", "c2"), request("d", "d1")],
  };
  const outcome = createOutcome(order);
  expect(outcome).toHaveLength(8);
  const units = toUnits(order);
  units.forEach((unit, at) => {
    markUnit(outcome, unit, `unit ${at}`);
  });
  expect(units).toHaveLength(6);
  const [a1, c1, c2, d1] = outcome.slice(4);
  expect(outcome.slice(0, 4)).toEqual(["unit 0", "unit 1", "unit 2", "unit 3"]);
  expect([a1, c1, c2, d1]).toEqual(["unit 2", "unit 4", "unit 4", "unit 5"]);
});
