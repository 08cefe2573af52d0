// The session as a state machine: computes the next state and the effects for each input. Pure: no I/O, clock, timers
// or id generation. session.ts is the shell that feeds inputs and performs effects.

import { onAdopted, onAwaited, onRepeated } from "./adoption.ts";
import { endIfOver, noteAsking, onBudget, onUsed } from "./budget.ts";
import { findNextMessage, onCancel, onEnqueue, onNotTaken, onQueueWritten, retryNow } from "./delivery.ts";
import type { Effect } from "./effects.ts";
import type { Happening, Input, TimerName } from "./inputs.ts";
import { onAdjusted } from "./job-adjust.ts";
import { onLedgerSettled, releaseNow, reportEnd } from "./job-end.ts";
import { onRewound } from "./job-rewind.ts";
import { advance, failStart } from "./job-steps.ts";
import type { Job } from "./jobs.ts";
import { onMark, takeMarksBack } from "./marks.ts";
import { onQuota } from "./quota.ts";
import { NOT_STORED, unknownSessionError } from "./refusals.ts";
import {
  hurryStop,
  interruptNow,
  interruptRun,
  onAround,
  onBusy,
  onEnded,
  onInterrupted,
  onStarted,
  onStartFailed,
  onStopped,
} from "./run-steps.ts";
import { getQueue, getTurn, isBusy, isClosing, isUnneeded, type SessionState, type Write } from "./state.ts";
import { onKept, onSteered } from "./steered.ts";
import { Step } from "./step.ts";
import { onAuthFailed, onEvent, onOwnTurn, onTaken } from "./turn-steps.ts";

export interface Reduced {
  readonly state: SessionState;
  readonly effects: readonly Effect[];
}

export function reduce(state: SessionState, input: Input): Reduced {
  return reduceAt(state, input, input);
}

/** The same with the time and id apart from the rest of the input. */
export function reduceAt(
  state: SessionState,
  happening: Happening,
  when: Pick<Input, "at_ms" | "id">,
): Reduced {
  const step = new Step(state, when);
  (TAKE[happening.kind] as (step: Step, happening: Happening) => void)(step, happening);
  return { state: step.state, effects: step.effects };
}

type Taken<K extends Happening["kind"]> = Extract<Happening, { kind: K }>;

/** One line per input. */
const TAKE: { [K in Happening["kind"]]: (step: Step, input: Taken<K>) => void } = {
  proceed,
  job: (step, { job }) => onJob(step, job),
  interrupt: (step, { job_id, client_id }) => onInterrupt(step, job_id, client_id),
  enqueue: (step, { job_id, input }) => unlessClosing(step, job_id, () => onEnqueue(step, job_id, input)),
  cancel: (step, { job_id, message_id }) =>
    unlessClosing(step, job_id, () => onCancel(step, job_id, message_id)),
  mark: (step, { job_id, change }) => unlessClosing(step, job_id, () => onMark(step, job_id, change)),
  quota: (step, { order, job_id }) => {
    if (!isClosing(step.state)) onQuota(step, order, job_id);
    else if (job_id !== undefined) step.refuse(job_id, unknownSessionError(step.state.row.session_id));
  },
  store: (step, { job_id }) => unlessClosing(step, job_id, () => void step.write({ for: "row", job_id })),
  left: (step, { client_id }) => onLeft(step, client_id),
  event: (step, { event, quota }) => onEvent(step, event, quota),
  used: onUsed,
  turn_started: (step) => {
    onOwnTurn(step);
    endIfOver(step);
  },
  steered: (step, { message_id, how }) => {
    onSteered(step, message_id, how);
    endIfOver(step);
  },
  kept: (step, { message_id }) => onKept(step, message_id),
  stderr: (step, { line }) => step.publish({ type: "blemeesd.stderr", line }),
  auth_failed: (step, { message }) => onAuthFailed(step, message),
  busy: (step, { isBusy: isBusyNow }) => onBusy(step, isBusyNow),
  asked: (step, { ask }) => step.emit({ kind: "ask", ask }),
  withdrawn: (step, { native_id, because }) => step.emit({ kind: "withdraw", native_id, reason: because }),
  native_id: (step, { native_session_id }) => {
    step.setRow({ native_session_id });
    step.save();
  },
  ended: (step, { generation, why }) => onEnded(step, generation, why),
  adopted: (step, { run }) => onAdopted(step, run),
  repeated: (step, { call }) => onRepeated(step, call),
  started: (step, { generation }) => onStarted(step, generation),
  start_failed: (step, { generation, failure }) => {
    onStartFailed(step, generation, failure);
    failStart(step, failure);
  },
  stopped: (step, { generation }) => onStopped(step, generation),
  interrupted: (step, { generation }) => onInterrupted(step, generation),
  rewound: (step, { job_id, outcome }) => onRewound(step, job_id, outcome),
  adjusted: (step, { job_id, failure }) => onAdjusted(step, job_id, failure),
  taken: (step, { turn_id, title, job_id }) => {
    onTaken(step, turn_id, title);
    if (job_id !== undefined) step.reply(job_id);
  },
  not_taken: onNotTaken,
  written: (step, { write_id, isStored }) => onWritten(step, write_id, isStored),
  ledger_settled: (step, { job_id }) => onLedgerSettled(step, job_id),
  requests: (step, { generation, open }) => {
    if (generation !== step.state.run?.generation) return;
    step.set({ requests: open });
    noteAsking(step);
  },
  around: (step, { around }) => onAround(step, around),
  budget: (step, { budget }) => onBudget(step, budget),
  timer: (step, { timer }) => onTimer(step, timer),
};

/** A session that is closing accepts no more changes. */
function unlessClosing(step: Step, job_id: string, change: () => void): void {
  if (isClosing(step.state))
    step.refuse(job_id, unknownSessionError(step.state.row.session_id)); // mutation: closed-stays-closed
  else change();
}

/** Whether `proceed` could do anything; usually not. */
export function mayProceed(state: SessionState): boolean {
  if (state.jobs.length > 0 || state.unfinished !== undefined || state.row.queue !== undefined) return true;
  return canRelease(state);
}

/** Takes one step of whatever can proceed. Derived from the state, so nothing has to remember to request it. */
function proceed(step: Step): void {
  const { state } = step;
  if (isOver(state)) {
    reportEnd(step, false);
    step.save();
  } else if (state.held === undefined && !has(state, "deliver") && findNextMessage(state) !== undefined) {
    step.set({ jobs: [...state.jobs, { kind: "deliver" }] });
  } else if (state.jobs.length === 0 && canRelease(state)) {
    step.set({ jobs: [{ kind: "release", how: "finish" }] });
  } else advance(step);
}

/** The work expected after the last turn is done or was cancelled, so that turn was the final one. */
function isOver(state: SessionState): boolean {
  if (state.unfinished === undefined || getTurn(state) !== undefined) return false;
  return !isBusy(state) && getQueue(state.row).length === 0;
}

/** The agent is idle and no client is left to use it. */
function canRelease(state: SessionState): boolean {
  return state.phase.name === "ready" && isUnneeded(state) && getQueue(state.row).length === 0;
}

function onJob(step: Step, job: Job): void {
  // At once, so that a message waiting for a starting agent stays in the queue.
  if (job.kind === "halt") step.setRow({ stopped_at_ms: step.at_ms });
  if (job.kind === "open") hurryStop(step);
  step.set({ jobs: [...step.state.jobs, job] });
}

/** Bypasses the queue, unless a message is waiting for its turn to start: then that turn is meant. */
function onInterrupt(step: Step, job_id: string, client_id: string | undefined): void {
  if (client_id !== undefined && step.turn === undefined && has(step.state, "send")) {
    step.set({ jobs: [...step.state.jobs, { kind: "interrupt", job_id, client_id }] });
  } else interruptNow(step, job_id, client_id);
}

function has({ jobs }: SessionState, kind: Job["kind"]): boolean {
  return jobs.some((job) => job.kind === kind);
}

/** The owner left: a turn continues, a request keeps waiting, an idle agent is stopped. */
function onLeft(step: Step, client_id: string | undefined): void {
  const { jobs, owner } = step.state;
  if (jobs.some((job) => job.kind === "open" && job.client_id === client_id)) {
    const left = jobs.map((job) =>
      job.kind === "open" && job.client_id === client_id ? { ...job, isGone: true } : job,
    );
    step.set({ jobs: left });
  }
  if (owner.client_id === undefined || (client_id !== undefined && owner.client_id !== client_id)) return;
  step.set({ owner: { left_at_ms: step.at_ms } });
  step.emit({ kind: "disown" });
  releaseNow(step);
}

function onWritten(step: Step, write_id: string, isStored: boolean): void {
  const write = step.state.writes.find((one) => one.write_id === write_id);
  if (write === undefined) return;
  step.set({ writes: step.state.writes.filter((one) => one !== write) });
  if (write.for === "result") return;
  if (write.for === "job") onJobWritten(step, write_id, isStored);
  else if (write.for === "row" || write.for === "marks") onRowWritten(step, write, isStored);
  else onQueueWritten(step, write, isStored);
}

/** Not necessarily the first job: a restart after an interrupt is inserted in front. */
function onJobWritten(step: Step, write_id: string, isStored: boolean): void {
  const isIts = (job: Job) => "write_id" in job && job.write_id === write_id;
  const jobs = step.state.jobs.map((job) => (isIts(job) ? { ...job, isStored } : job));
  step.set({ jobs });
}

function onRowWritten(step: Step, write: Write & { for: "row" | "marks" }, isStored: boolean): void {
  if (isStored) {
    step.reply(write.job_id);
    return;
  }
  if (write.for === "marks") takeMarksBack(step, write.before);
  step.refuse(write.job_id, NOT_STORED);
}

function onTimer(step: Step, name: TimerName): void {
  if (name === "retry") retryNow(step);
  else if (name === "reconnect") onAwaited(step);
  else if (step.turn?.verdict !== undefined) interruptRun(step);
}
