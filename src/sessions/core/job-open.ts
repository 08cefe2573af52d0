// Jobs that bring a session up: a client opens it, or a manager makes it.
import { letGoNow } from "./job-end.ts";
import { become, done, refuseJob } from "./job-moves.ts";
import type { BeginJob, OpenJob } from "./jobs.ts";
import { clientGone, NOT_STORED, unknownSession } from "./refusals.ts";
import { startRun } from "./run-steps.ts";
import { type CoreRow, type Failure, isClosing } from "./state.ts";
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
    const adopted = adoptedOptions(state.row, job.options ?? {});
    become(step, { ...job, stage: "starting", adopted });
    const { options = state.row.options } = adopted;
    startRun(step, { resume: job.resume, needsRoom: false, options });
    return;
  }
  if (job.stage === "starting") {
    // Only now: whoever owns the session keeps its options when the agent does not start with the new ones.
    if (job.adopted !== undefined) step.setRow(job.adopted);
    if (job.answers !== undefined) step.setRow({ answers: job.answers });
    step.dropFromRow("stopped_at_ms");
    // Whoever is told of a session can resume it, even if we die right behind the reply (DESIGN R3).
    if (!job.resume) {
      become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
      return;
    }
    step.save(); // mutation: opened-is-stored
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

/** New options count from the next start of the agent; a missing cwd stays what it was. */
function adoptedOptions(row: CoreRow, options: Record<string, unknown>): NonNullable<OpenJob["adopted"]> {
  if (Object.keys(options).length === 0) return {};
  const { cwd = row.cwd } = options;
  return {
    options: cwd === undefined ? options : { ...options, cwd },
    ...(typeof cwd === "string" ? { cwd } : {}),
  };
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
  done(step);
  if (job.isStored === false) {
    failBegin(step, job, NOT_STORED);
    return;
  }
  step.reply(job.job_id);
}

/** It never was, so its first message is not delivered: whoever made it closes it now. */
export function failBegin(step: Step, { job_id }: BeginJob, failure: Failure): void {
  step.set({ held: { message: failure.message } });
  step.refuse(job_id, failure);
}
