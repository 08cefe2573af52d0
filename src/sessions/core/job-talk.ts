// Jobs that give the agent work or take it away: the owner's message, the next queued message, an interrupt.
import { findNextMessage, handOver } from "./delivery.ts";
import { become, finishJob, refuseJob } from "./job-moves.ts";
import type { DeliverJob, SendJob, WarmJob } from "./jobs.ts";
import { busyError, unknownSessionError, waitingError } from "./refusals.ts";
import { startRun } from "./run-steps.ts";
import { isAsking, isClosing, isRepeating, isSteering, isUnattended } from "./state.ts";
import type { Step } from "./step.ts";
import { beginTurn } from "./turn-steps.ts";

export function send(step: Step, job: SendJob): void {
  const { state } = step;
  const waiting = state.requests.find(({ isShown }) => isShown);
  if (isClosing(state) || state.owner.client_id !== job.client_id) {
    refuseJob(step, job, unknownSessionError(state.row.session_id));
    return;
  }
  if (step.turn !== undefined) {
    refuseJob(step, job, busyError(waiting));
    return;
  }
  if (waiting !== undefined) {
    refuseJob(step, job, waitingError(waiting));
    return;
  }
  if (isAsking(state) || isRepeating(state) || isSteering(state)) {
    refuseJob(step, job, busyError());
    return;
  }
  if (state.budget?.hold !== undefined) {
    refuseJob(step, job, { code: "budget_exhausted", message: state.budget.hold }); // mutation: budgets-refuse-messages
    return;
  }
  if (state.run === undefined) {
    become(step, { ...job, stage: "starting" });
    startRun(step, { resume: true, needsRoom: false });
    return;
  }
  finishJob(step);
  if (job.isPrepared === true) {
    const entry = {
      message_id: step.id,
      kind: "user",
      message: job.message,
      queued_at_ms: step.at_ms,
    } as const;
    beginTurn(step, "user", entry);
    step.write({ for: "handover", turn_id: step.id, entry, job_id: job.job_id });
    return;
  }
  beginTurn(step, "user");
  step.emit({ kind: "give", turn_id: step.id, message: job.message, job_id: job.job_id });
}

export function deliver(step: Step, job: DeliverJob): void {
  const { state } = step;
  const entry = findNextMessage(state);
  const needsAgent = entry !== undefined && state.run === undefined; // mutation: one-agent-at-a-time
  if (needsAgent && job.stage === undefined) {
    become(step, { ...job, stage: "starting" });
    startRun(step, { resume: true, needsRoom: true });
    return;
  }
  finishJob(step);
  // Checked again: a lot can happen while an agent starts.
  if (entry !== undefined && state.run !== undefined) handOver(step, entry);
}

export function warm(step: Step, job: WarmJob): void {
  const { state } = step;
  const isWanted = state.run === undefined && !isUnattended(state) && !isClosing(state);
  if (job.stage === undefined && isWanted) {
    become(step, { ...job, stage: "starting" });
    startRun(step, { resume: true, needsRoom: job.needsRoom === true });
    return;
  }
  finishJob(step);
  for (const job_id of job.waiters) step.reply(job_id);
}
