// What users mark a session with: its name, its labels, and that it is put away. Marks are stored before the caller gets
// a reply, and taken back if that fails.

import type { Budget, RemovedSpending } from "../../protocol/budget.ts";
import type { OnLimit } from "../../protocol/quota.ts";
import { MAX_LABELS } from "../../protocol/session.ts";
import { retryNow } from "./delivery.ts";
import type { CoreRow, Failure } from "./state.ts";
import { getQueue, isEngaged } from "./state.ts";
import type { Step } from "./step.ts";

/** `undefined`: the row has no such mark. */
export interface Marks {
  readonly name: string | undefined;
  readonly labels: readonly string[] | undefined;
  readonly archived_at_ms: number | undefined;
  readonly stopped_at_ms: number | undefined;
  readonly on_limit: OnLimit | undefined;
  readonly budget: Budget | undefined;
  readonly granted_at_ms: number | undefined;
  readonly removed_spending: readonly RemovedSpending[] | undefined;
}

/** What is absent stays as it is. */
export interface MarkChange {
  /** null removes it. */
  readonly name?: string | null;
  readonly add_labels?: readonly string[];
  readonly remove_labels?: readonly string[];
  readonly archived?: boolean;
  /** Its queue continues now, also if it was stopped or its agent could not be started. */
  readonly resumed?: true;
  /** null: the configured one. */
  readonly on_limit?: OnLimit | null;
  /** All its limits. */
  readonly budget?: Budget;
  /** Of all its deleted children. */
  readonly removed_spending?: readonly RemovedSpending[];
}

const BUSY: Failure = {
  code: "session_busy",
  message: "the session has work: wait for its turn to end, answer its requests, or stop it, then archive it",
};
const TOO_MANY: Failure = {
  code: "invalid_message",
  message: `a session has at most ${MAX_LABELS} labels; remove one first`,
};

export function onMark(step: Step, job_id: string, change: MarkChange): void {
  const { row } = step.state;
  const marks: { -readonly [M in keyof Marks]?: Marks[M] } = {};
  if (change.name !== undefined) marks.name = change.name ?? undefined;
  if (change.on_limit !== undefined) marks.on_limit = change.on_limit ?? undefined;
  if (change.add_labels !== undefined || change.remove_labels !== undefined) {
    const labels = changeLabels(row.labels ?? [], change.add_labels, change.remove_labels);
    if (labels.length > MAX_LABELS) {
      step.refuse(job_id, TOO_MANY);
      return;
    }
    marks.labels = labels.length === 0 ? undefined : labels;
  }
  if (change.archived === true && (isEngaged(step.state) || getQueue(row).length > 0)) {
    step.refuse(job_id, BUSY);
    return;
  }
  if (change.archived !== undefined)
    marks.archived_at_ms = change.archived ? (row.archived_at_ms ?? step.at_ms) : undefined;
  if (change.resumed === true) {
    marks.stopped_at_ms = undefined;
    // Its grant comes after those that were made meanwhile.
    if (row.stopped_at_ms !== undefined && row.budget !== undefined) marks.granted_at_ms = step.at_ms;
    retryNow(step);
  }
  if (change.budget !== undefined) {
    const isNone = Object.keys(change.budget).length === 0;
    marks.budget = isNone ? undefined : change.budget;
    marks.granted_at_ms = isNone ? undefined : (row.granted_at_ms ?? step.at_ms);
  }
  if (change.removed_spending !== undefined) marks.removed_spending = change.removed_spending;
  const names = Object.keys(marks) as (keyof Marks)[];
  const before = Object.fromEntries(names.map((name) => [name, row[name]]));
  setMarks(step, marks);
  step.write({ for: "marks", job_id, before });
}

/** Sorted, each once. */
export function changeLabels(
  labels: readonly string[],
  added: readonly string[] = [],
  removed: readonly string[] = [],
): string[] {
  return [...new Set([...labels.filter((label) => !removed.includes(label)), ...added])].sort();
}

/** A mark that a newer write also changes stays for now, and is undone the same way if that write fails too. */
export function takeMarksBack(step: Step, before: Partial<Marks>): void {
  for (const name of Object.keys(before) as (keyof Marks)[]) {
    const { writes } = step.state;
    const newer = writes.find((write) => write.for === "marks" && name in write.before);
    const old = { [name]: before[name] };
    if (newer?.for !== "marks") setMarks(step, old);
    else {
      const changed = { ...newer, before: { ...newer.before, ...old } };
      step.set({ writes: writes.map((write) => (write === newer ? changed : write)) });
    }
  }
}

function setMarks(step: Step, marks: Partial<Marks>): void {
  for (const [name, value] of Object.entries(marks)) {
    const key = name as keyof Marks & keyof CoreRow;
    if (value === undefined) step.dropFromRow(key);
    else step.setRow({ [key]: value });
  }
}
