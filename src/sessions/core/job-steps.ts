// Executes a session's jobs step by step: `advance` takes the next step of the first job unless it is waiting.
// What a job waits for is derived from the state alone.
import { hold } from "./delivery.ts";
import { adjust } from "./job-adjust.ts";
import { close, halt, release, rest } from "./job-end.ts";
import { finishJob } from "./job-moves.ts";
import { begin, failBegin, open, refuseOpen } from "./job-open.ts";
import { rewind } from "./job-rewind.ts";
import { deliver, send, warm } from "./job-talk.ts";
import type { Job } from "./jobs.ts";
import { interruptNow } from "./run-steps.ts";
import type { Failure, SessionState } from "./state.ts";
import type { Step } from "./step.ts";

type JobOf<K extends Job["kind"]> = Extract<Job, { kind: K }>;

/** One line per kind of job. */
const ADVANCE: { [K in Job["kind"]]: (step: Step, job: JobOf<K>) => void } = {
  open,
  send,
  begin,
  rest,
  halt,
  close,
  interrupt: (step, job) => {
    finishJob(step);
    interruptNow(step, job.job_id, job.client_id);
  },
  adjust,
  deliver,
  rewind,
  release,
  warm,
};

/** Takes one step of the first job; does nothing while it waits. */
export function advance(step: Step): void {
  const [job] = step.state.jobs;
  if (job === undefined || isWaiting(step.state, job)) return;
  (ADVANCE[job.kind] as (step: Step, job: Job) => void)(step, job);
}

function isWaiting({ phase, run, jobs, budget }: SessionState, job: Job): boolean {
  // Starting or stopping the agent during an interrupt could hit the wrong turn. A shutdown does not wait.
  const isAllEnding = isShutdown(job) || (run !== undefined && jobs.some(isShutdown));
  if (phase.name === "interrupting" && !isAllEnding) return true;
  if (job.kind === "send" && budget?.isReading === true) return true;
  switch (job.stage) {
    case "starting":
      return run?.isUp === false;
    case "stopping":
      return phase.name === "stopping";
    case "writing":
      return "isStored" in job ? job.isStored === undefined : true;
    case "asking":
      return true;
    default:
      return false;
  }
}

function isShutdown(job: Job): boolean {
  return job.kind === "close" && job.reason === "shutdown";
}

/** The agent failed to start: fails the job that was waiting for it. */
export function failStart(step: Step, failure: Failure): void {
  const [job] = step.state.jobs;
  if (job?.stage !== "starting") return;
  finishJob(step);
  switch (job.kind) {
    case "open":
      refuseOpen(step, job, failure);
      return;
    case "deliver":
      hold(step, failure);
      return;
    case "warm":
      // Not the message: it can contain the agent's output.
      step.emit({
        kind: "log",
        level: "warn",
        event: "session.respawn_failed",
        fields: { code: failure.code },
      });
      for (const job_id of job.waiters) step.reply(job_id);
      return;
    case "release":
      return;
    case "begin":
      failBegin(step, job, failure);
      return;
    default:
      step.refuse(job.job_id, failure);
  }
}
