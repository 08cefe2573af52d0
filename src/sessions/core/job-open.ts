// Jobs that bring a session up: a client opens it, or a manager creates it.
import { defined } from "../../base/values.ts";
import { startAgain } from "./continuing.ts";
import { releaseNow } from "./job-end.ts";
import { become, finishJob, refuseJob } from "./job-moves.ts";
import type { BeginJob, OpenJob } from "./jobs.ts";
import { clientGoneError, NOT_STORED, unknownSessionError } from "./refusals.ts";
import { startRun } from "./run-steps.ts";
import { type CoreRow, type Failure, isClosing } from "./state.ts";
import type { Step } from "./step.ts";

export function open(step: Step, job: OpenJob): void {
  const { state } = step;
  if (job.stage === undefined) {
    if (isClosing(state)) {
      refuseJob(step, job, unknownSessionError(state.row.session_id));
      return;
    }
    if (job.isGone) {
      finishJob(step);
      refuseOpen(step, job, clientGoneError());
      return;
    }
    step.emit({ kind: "mark", job_id: job.job_id });
    if (state.run !== undefined) {
      become(step, { ...job, stage: "starting" });
      return;
    }
    const adopted = adoptedOptions(state.row, job);
    become(step, { ...job, stage: "starting", adopted });
    const { options = state.row.options } = adopted;
    startRun(step, { resume: job.resume, needsRoom: false, options });
    return;
  }
  if (job.stage === "starting") {
    // Not earlier: if the agent fails to start with new options, the session keeps the old ones.
    if (job.adopted !== undefined) step.setRow(job.adopted);
    if (job.answers !== undefined) step.setRow({ answers: job.answers });
    startAgain(step);
    step.dropFromRow("archived_at_ms");
    // A client that got a reply can resume the session, even if the daemon dies right after it.
    if (!job.resume) {
      become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
      return;
    }
    step.save(); // mutation: opened-is-stored
  }
  finishJob(step);
  if (job.isGone) {
    refuseOpen(step, job, clientGoneError());
    releaseNow(step);
    return;
  }
  const { job_id, resume, last_seen_seq } = job;
  step.set({ owner: { client_id: job.client_id } });
  step.emit({ kind: "own", job_id, resume, ...defined({ last_seen_seq }) });
}

/** New options take effect at the next start; without a cwd, the previous one stays. */
function adoptedOptions(row: CoreRow, { options = {}, project }: OpenJob): NonNullable<OpenJob["adopted"]> {
  if (Object.keys(options).length === 0) return {};
  const { cwd = row.cwd } = options;
  return {
    options: cwd === undefined ? options : { ...options, cwd },
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...defined({ project }),
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
      refuseJob(step, job, unknownSessionError(step.state.row.session_id));
      return;
    }
    become(step, { ...job, stage: "starting" });
    // One that began elsewhere is continued.
    startRun(step, { resume: !step.state.row.began_here, needsRoom: false });
    return;
  }
  if (job.stage === "starting") {
    become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
    return;
  }
  finishJob(step);
  if (job.isStored === false) {
    failBegin(step, job, NOT_STORED);
    return;
  }
  step.reply(job.job_id);
}

/** The session never existed, so its first message is not delivered; the caller closes it now. */
export function failBegin(step: Step, { job_id }: BeginJob, failure: Failure): void {
  step.set({ held: { message: failure.message } });
  step.refuse(job_id, failure);
}
