// What became of messages for the running turn (steering.ts), as their agent reports it.
import type { Steered } from "../../backends/types.ts";
import { notWaitingFailure, onCancel } from "./delivery.ts";
import { tellDelivered, tellSteered } from "./input-notices.ts";
import { markDelivered, markDone } from "./queue.ts";
import { rememberMessage } from "./quota.ts";
import { getQueue, type Steer } from "./state.ts";
import type { Step } from "./step.ts";
import { makeSyntheticResult } from "./turn.ts";
import { beginTurn } from "./turn-steps.ts";

export function onSteered(step: Step, message_id: string, how: Steered): void {
  const steer = forget(step, message_id);
  if (steer === undefined) return;
  if (how === "returned") makeOrdinary(step, message_id);
  else take(step, message_id, how); // mutation: steers-leave-the-queue
  settleCancels(step, steer);
}

/** The agent has it, and does not give it back. */
export function onKept(step: Step, message_id: string): void {
  const { run } = step.state;
  const steer = run?.steers?.find((one) => one.message_id === message_id);
  if (run === undefined || steer === undefined) return;
  step.set({
    run: {
      ...run,
      steers: run.steers?.map((one) => (one === steer ? { message_id, cancels: [] } : one)) ?? [],
    },
  });
  const { row } = step.state;
  const message = `message ${message_id} of session ${row.session_id} is with ${row.backend} already, which does not give it back`;
  for (const job_id of steer.cancels) step.refuse(job_id, { code: "message_unknown", message });
}

/** The agent is gone: what it has not taken is delivered as an ordinary message. */
export function releaseSteers(step: Step): void {
  for (const { message_id } of step.state.run?.steers ?? []) onSteered(step, message_id, "returned");
}

function forget(step: Step, message_id: string): Steer | undefined {
  const { run } = step.state;
  const steer = run?.steers?.find((one) => one.message_id === message_id);
  if (run === undefined || steer === undefined) return undefined;
  const { steers, ...rest } = run;
  const left = steers?.filter((one) => one !== steer) ?? [];
  step.set({ run: left.length > 0 ? { ...rest, steers: left } : rest });
  return steer;
}

/** It is not offered to the turn again. */
function makeOrdinary(step: Step, message_id: string): void {
  const queue = getQueue(step.state.row).map((entry) => {
    const { for_turn: _missed, ...rest } = entry;
    return entry.message_id === message_id ? rest : entry;
  });
  if (queue.length > 0) step.setRow({ queue });
  step.save();
}

function take(step: Step, message_id: string, how: "taken" | "next"): void {
  const { state, turn } = step;
  const entry = getQueue(state.row).find((one) => one.message_id === message_id);
  if (entry === undefined) return;
  const { name } = state.phase;
  const begins = how === "next" && turn === undefined && (name === "ready" || name === "interrupting");
  const turn_id = begins ? step.id : (turn?.turn_id ?? entry.for_turn ?? "");
  const { row, record } = markDelivered(state.row, message_id, turn_id);
  step.set({ row });
  if (begins) beginTurn(step, "user", undefined, rememberMessage(state, entry));
  if (record !== undefined && begins) tellDelivered(step, record, entry);
  else if (record !== undefined) tellSteered(step, record, entry);
  if (step.turn === undefined) endWithTurn(step, turn_id);
  step.save();
}

/** Its turn has a result already: it was cut off. */
function endWithTurn(step: Step, turn_id: string): void {
  const { row } = step.state;
  const done = markDone(row, { ...makeSyntheticResult(row.backend, "interrupted"), turn_id });
  step.set({ row: done.row });
  for (const input of done.records) step.emit({ kind: "input_changed", input });
}

/** Calls that wanted it back. */
function settleCancels(step: Step, { message_id, cancels }: Steer): void {
  const [first, ...others] = cancels;
  if (first !== undefined) onCancel(step, first, message_id);
  for (const job_id of others) step.refuse(job_id, notWaitingFailure(step.state, message_id));
}
