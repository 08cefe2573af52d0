// Carries out the jobs of a session (jobs.ts), one step at a time: `advance` takes the next step of the first job if
// nothing that it waits for is missing. Every stage is told by the state alone, so a job can be looked at at any time.
import { hold } from "./delivery.ts";
import { close, halt, release, rest } from "./job-end.ts";
import { done } from "./job-moves.ts";
import { begin, failBegin, open, refuseOpen } from "./job-open.ts";
import { deliver, interruptQueued, send, warm } from "./job-talk.ts";
import type { Job } from "./jobs.ts";
import type { Failure, SessionState } from "./state.ts";
import type { Step } from "./step.ts";

type JobOf<K extends Job["kind"]> = Extract<Job, { kind: K }>;

/** One line a kind of job. */
const ADVANCE: { [K in Job["kind"]]: (step: Step, job: JobOf<K>) => void } = {
  open,
  send,
  begin,
  rest,
  halt,
  close,
  interrupt: (step, job) => {
    done(step);
    interruptQueued(step, job);
  },
  deliver,
  release,
  warm,
};

/** Takes one step of the first job. Nothing changes while it waits for something. */
export function advance(step: Step): void {
  const [job] = step.state.jobs;
  if (job === undefined || isWaiting(step.state, job)) return;
  (ADVANCE[job.kind] as (step: Step, job: Job) => void)(step, job);
}

function isWaiting({ phase, run, jobs }: SessionState, job: Job): boolean {
  // What starts or ends the agent waits until an interrupt is over, or it would hit what comes next. Not if all ends.
  const isAllEnding = isShutdown(job) || (run !== undefined && jobs.some(isShutdown));
  if (phase.name === "interrupting" && !isAllEnding) return true;
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

/** The agent did not start: the job that wanted it is over. */
export function failStart(step: Step, failure: Failure): void {
  const [job] = step.state.jobs;
  if (job?.stage !== "starting") return;
  done(step);
  switch (job.kind) {
    case "open":
      refuseOpen(step, job, failure);
      return;
    case "deliver":
      hold(step, failure);
      return;
    case "warm":
      // Not its message: that can hold the agent's own words (spec §10).
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
