// Cuts an append order into what must be stored together: each batch is a unit, and a row goes with the last
// batch of its session.
import type { SessionRow } from "../protocol/session.ts";
import type { AppendOrder, AppendOutcome, LogBatch } from "./types.ts";

export interface Unit {
  batch?: { index: number; value: LogBatch };
  row?: { index: number; value: SessionRow };
}

export function toUnits(order: Pick<AppendOrder, "batches" | "rows">): Unit[] {
  const units: Unit[] = order.batches.map((value, index) => ({ batch: { index, value } }));
  const rest: Unit[] = [];
  order.rows.forEach((value, at) => {
    const row = { index: order.batches.length + at, value };
    const home = units.findLast(
      (unit) => unit.batch?.value.session_id === value.session_id && unit.row === undefined,
    );
    if (home === undefined) rest.push({ row });
    else home.row = row;
  });
  return [...units, ...rest];
}

export function emptyOutcome(order: Pick<AppendOrder, "batches" | "rows">): AppendOutcome {
  return new Array<undefined>(order.batches.length + order.rows.length).fill(undefined);
}

export function markUnit(outcome: AppendOutcome, unit: Unit, fault: string | undefined): void {
  if (unit.batch !== undefined) outcome[unit.batch.index] = fault;
  if (unit.row !== undefined) outcome[unit.row.index] = fault;
}
