// Jobs that stop something: an idle agent, an agent until further notice, or the session itself.
import { become, finishJob, refuseJob } from "./job-moves.ts";
import type { CloseCondition, CloseJob, HaltJob, Job, ReleaseJob, RestJob } from "./jobs.ts";
import { wakeAgain } from "./queue.ts";
import { unknownSessionError } from "./refusals.ts";
import { interruptNow, stopRun } from "./run-steps.ts";
import { getIdleSince, getRestSince, hasInput, isClosing, isUnneeded, type SessionState } from "./state.ts";
import type { Step } from "./step.ts";
import { makeIdleNotice, TURN_CUT } from "./turn.ts";

/** So that it is not taken for an interrupt by a person. */
const CUT_BY_SHUTDOWN = { code: "daemon_shutdown", message: TURN_CUT };

export function rest(step: Step, job: RestJob): void {
  if (job.stage === undefined) {
    const isIdle =
      !isClosing(step.state) && getRestSince(step.state) !== undefined && step.turn === undefined;
    if (!isIdle) {
      finishJob(step);
      step.reply(job.job_id, false);
      return;
    }
    become(step, { ...job, stage: "stopping" });
    stopRun(step, "finish");
    return;
  }
  finishJob(step);
  step.emit({ kind: "log", level: "info", event: "session.rested" });
  step.reply(job.job_id, true);
}

export function halt(step: Step, job: HaltJob): void {
  if (job.stage === undefined) {
    if (isClosing(step.state)) {
      finishJob(step);
      step.reply(job.job_id);
      return;
    }
    become(step, { ...job, stage: "stopping" });
    stopRun(step, "now");
    return;
  }
  if (job.stage === "stopping") {
    step.setRow({ stopped_at_ms: step.at_ms });
    reportEnd(step, job.isAsked);
    become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
    return;
  }
  const message = "the agent was ended, but this could not be stored; after a restart it may continue";
  if (job.isStored === false) {
    refuseJob(step, job, { code: "store_failed", message });
    return;
  }
  finishJob(step);
  step.reply(job.job_id);
}

/** Nothing follows the last turn: reports it as the final one, unless its parent asked for that. */
export function reportEnd(step: Step, isAsked: boolean): void {
  const { unfinished } = step.state;
  if (unfinished === undefined) return;
  if (!isAsked) step.emit({ kind: "turn_ended", result: unfinished, goesOn: false });
  step.set({ unfinished: undefined });
}

/** Ends a running turn with a result, then notifies watchers. */
export function close(step: Step, job: CloseJob): void {
  const { state } = step;
  switch (job.stage) {
    case undefined: {
      if (state.phase.name === "closed" || !mayClose(state, job.if)) {
        finishJob(step);
        step.reply(job.job_id, state.phase.name === "closed");
        return;
      }
      if (job.reason === "idle_timeout" && step.turn !== undefined)
        step.publish(makeIdleNotice(state.row.backend));
      if (state.held !== undefined) step.emit({ kind: "clear_timer", name: "retry" });
      const { turn } = step;
      // Its turn is cut, and nothing else would wake this session: the next daemon delivers the wake again.
      if (job.reason === "shutdown" && turn?.wake !== undefined && state.row.stopped_at_ms === undefined) {
        step.set({ row: wakeAgain(state.row, turn.wake, step.at_ms) }); // mutation: cut-wakes-come-again
      }
      become(step, { ...job, stage: "stopping" });
      stopRun(step, "now", job.reason === "shutdown" ? CUT_BY_SHUTDOWN : undefined);
      return;
    }
    case "stopping":
      become(step, { ...job, stage: "asking" });
      step.emit({ kind: "settle_ledger", job_id: job.job_id });
      return;
    case "asking": {
      // Its children must not restart it.
      if (job.reason === "owner_closed") {
        step.setRow({ stopped_at_ms: step.at_ms });
        reportEnd(step, false);
      }
      // A session that never existed is not stored.
      const isSaved = job.reason === "owner_closed" || state.around.isOwed;
      const write_id = isSaved ? step.write({ for: "job" }) : step.settle({ for: "job" });
      become(step, { ...job, stage: "writing", write_id });
      return;
    }
    default:
      finishJob(step);
      for (const later of step.state.jobs) refuseLater(step, later); // mutation: close-answers-everybody
      step.set({ phase: { name: "closed" }, owner: {}, jobs: [], held: undefined, unfinished: undefined });
      step.emit({ kind: "close", reason: job.reason });
      step.reply(job.job_id, true);
  }
}

/** The ledger has finished: continue with the last stage of the close. */
export function onLedgerSettled(step: Step, job_id: string): void {
  const [job] = step.state.jobs;
  if (job?.kind === "close" && job.job_id === job_id && job.stage === "asking") close(step, job);
}

function mayClose(state: SessionState, condition: CloseCondition): boolean {
  if (condition === "always") return true;
  if (condition === "idle") return getIdleSince(state) !== undefined;
  if (condition === "abandoned") return state.owner.client_id === undefined && !hasInput(state);
  return state.owner.client_id === condition.owner;
}

/** Answers jobs queued after a close: the same wish is granted, others find no session. */
function refuseLater(step: Step, job: Job): void {
  const { session_id } = step.state.row;
  if (job.kind === "close") step.reply(job.job_id, true);
  else if (job.kind === "rest") step.reply(job.job_id, false);
  else if (job.kind === "halt") step.reply(job.job_id);
  else if (job.kind === "interrupt") interruptNow(step, job.job_id, job.client_id);
  else if (job.kind === "warm") for (const job_id of job.waiters) step.reply(job_id);
  else if (job.kind !== "deliver" && job.kind !== "release") {
    step.refuse(job.job_id, unknownSessionError(session_id));
  }
}

export function release(step: Step, job: ReleaseJob): void {
  const { state } = step;
  if (job.stage !== undefined || !isUnneeded(state)) {
    finishJob(step);
    return;
  }
  become(step, { ...job, stage: "stopping" });
  stopRun(step, job.how);
}

/** Stops an idle agent at once when no client is left to use it. */
export function releaseNow(step: Step): void {
  const { state } = step;
  if (!isUnneeded(state)) return;
  step.set({ jobs: [...state.jobs, { kind: "release", how: "now" }] });
}
