// Splits an append order into units that are stored together: each batch is a unit, with the row and requests that
// belong to the last batch of their session. Without a batch, a session's requests are a unit.
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { AppendOrder, AppendOutcome, LogBatch } from "./types.ts";

/** The content of an order. */
export type Content = Omit<AppendOrder, "sync">;

export interface Unit {
  batch?: { index: number; value: LogBatch };
  row?: { index: number; value: SessionRow };
  requests?: { index: number; value: RequestRow }[];
}

export function toUnits(order: Content): Unit[] {
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
  order.requests?.forEach((value, at) => {
    const { session_id } = value;
    let home = units.findLast((unit) => unit.batch?.value.session_id === session_id);
    home ??= rest.find((unit) => unit.requests?.[0]?.value.session_id === session_id);
    if (home === undefined) {
      home = {};
      rest.push(home);
    }
    home.requests ??= [];
    home.requests.push({ index: order.batches.length + order.rows.length + at, value });
  });
  return [...units, ...rest];
}

export function createOutcome({ batches, rows, requests }: Content): AppendOutcome {
  return new Array<undefined>(batches.length + rows.length + (requests?.length ?? 0)).fill(undefined);
}

export function markUnit(outcome: AppendOutcome, unit: Unit, fault: string | undefined): void {
  if (unit.batch !== undefined) outcome[unit.batch.index] = fault;
  if (unit.row !== undefined) outcome[unit.row.index] = fault;
  if (unit.requests === undefined) return;
  for (const { index } of unit.requests) outcome[index] = fault;
}

export function getSessionId({ batch, row, requests }: Unit): string {
  return (batch ?? row ?? requests?.[0])?.value.session_id ?? "";
}
