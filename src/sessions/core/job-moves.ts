// Moves a job to its next stage, or removes it from the list.
import type { Job } from "./jobs.ts";
import type { Failure } from "./state.ts";
import type { Step } from "./step.ts";

export function become(step: Step, job: Job): void {
  step.set({ jobs: [job, ...step.state.jobs.slice(1)] });
}

/** Removes the first job. */
export function finishJob(step: Step): void {
  step.set({ jobs: step.state.jobs.slice(1) });
}

export function refuseJob(step: Step, job: { job_id: string }, failure: Failure): void {
  finishJob(step);
  step.refuse(job.job_id, failure);
}
