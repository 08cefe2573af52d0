// Jobs that bring a session up: a client opens it, or a manager makes it.
import { letGoNow } from "./job-end.ts";
import { become, done, refuseJob } from "./job-moves.ts";
import type { BeginJob, OpenJob } from "./jobs.ts";
import { clientGone, unknownSession } from "./refusals.ts";
import { startRun } from "./run-steps.ts";
import { type Failure, isClosing } from "./state.ts";
import type { Step } from "./step.ts";

export function open(step: Step, job: OpenJob): void {
  const { state } = step;
  if (job.stage === undefined) {
    if (isClosing(state)) {
      refuseJob(step, job, unknownSession(state.row.session_id));
      return;
    }
    if (job.isGone) {
      done(step);
      refuseOpen(step, job, clientGone());
      return;
    }
    step.emit({ kind: "mark", job_id: job.job_id });
    if (state.run !== undefined) {
      become(step, { ...job, stage: "starting" });
      return;
    }
    const { options, cwd } = state.row;
    become(step, { ...job, stage: "starting", before: { options, ...(cwd === undefined ? {} : { cwd }) } });
    if (job.options !== undefined) adoptOptions(step, job.options);
    startRun(step, { resume: job.resume, needsRoom: false });
    return;
  }
  if (job.stage === "starting") {
    if (job.answers !== undefined) step.setRow({ answers: job.answers });
    step.dropFromRow("stopped_at_ms");
    // Whoever is told of a session can resume it, even if we die right behind the reply (DESIGN R3).
    if (!job.resume) {
      become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
      return;
    }
    step.save();
  }
  done(step);
  if (job.isGone) {
    refuseOpen(step, job, clientGone());
    letGoNow(step);
    return;
  }
  const { job_id, resume, last_seen_seq } = job;
  step.set({ owner: { client_id: job.client_id } });
  step.emit({ kind: "own", job_id, resume, ...(last_seen_seq === undefined ? {} : { last_seen_seq }) });
}

/** Whoever owns the session keeps its options when the agent does not start with the new ones. */
export function keepOptions(step: Step, { before }: OpenJob): void {
  if (before === undefined) return;
  step.dropFromRow("cwd");
  step.setRow(before);
}

/** New options count from the next start of the agent; a missing cwd stays what it was. */
function adoptOptions(step: Step, options: Record<string, unknown>): void {
  if (Object.keys(options).length === 0) return;
  const { cwd = step.state.row.cwd } = options;
  step.setRow({
    options: cwd === undefined ? options : { ...options, cwd },
    ...(typeof cwd === "string" ? { cwd } : {}),
  });
}

export function refuseOpen(step: Step, { job_id }: OpenJob, failure: Failure): void {
  const { owner } = step.state;
  if (owner.client_id === undefined && owner.left_at_ms === undefined) {
    step.set({ owner: { left_at_ms: step.at_ms } });
  }
  step.refuse(job_id, failure);
}

export function begin(step: Step, job: BeginJob): void {
  if (job.stage === undefined) {
    if (isClosing(step.state)) {
      refuseJob(step, job, unknownSession(step.state.row.session_id));
      return;
    }
    become(step, { ...job, stage: "starting" });
    startRun(step, { resume: false, needsRoom: false });
    return;
  }
  if (job.stage === "starting") {
    become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
    return;
  }
  const message = "the disk did not take it, so nothing was done; look at the log";
  done(step);
  if (job.isStored === false) {
    failBegin(step, job, { code: "store_failed", message });
    return;
  }
  step.reply(job.job_id);
}

/** It never was, so its first message is not delivered: whoever made it closes it now. */
export function failBegin(step: Step, { job_id }: BeginJob, failure: Failure): void {
  step.set({ held: { message: failure.message } });
  step.refuse(job_id, failure);
}
