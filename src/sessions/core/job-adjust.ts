// Changes the settings of a session: of the running agent at once, and for every later start.
import { defined } from "../../base/values.ts";
import { toNotice } from "../../protocol/notices.ts";
import { become, finishJob, refuseJob } from "./job-moves.ts";
import type { AdjustJob } from "./jobs.ts";
import { unknownSessionError } from "./refusals.ts";
import { type Failure, isClosing, isRepeating } from "./state.ts";
import type { Step } from "./step.ts";

const CHANGED: Failure = {
  code: "session_busy",
  message: "the session's options have just been changed by someone else; look at them, then try again",
};
const REPEATING: Failure = {
  code: "session_busy",
  message: "the daemon is still reading what the agent did while it was restarted; try again",
};
const NOT_KEPT: Failure = {
  code: "store_failed",
  message: "the change is in effect, but could not be stored; it may be lost when the agent is started again",
};

export function adjust(step: Step, job: AdjustJob): void {
  const { state } = step;
  if (job.stage === "writing") {
    finishJob(step);
    if (job.isStored === false) step.refuse(job.job_id, NOT_KEPT);
    else step.reply(job.job_id);
    return;
  }
  if (isClosing(state)) refuseJob(step, job, unknownSessionError(state.row.session_id));
  else if (state.row.options !== job.before) refuseJob(step, job, CHANGED);
  else if (isRepeating(state)) refuseJob(step, job, REPEATING);
  else if (state.run === undefined) keep(step, job);
  else {
    const { generation } = state.run;
    const { job_id, change, options } = job;
    become(step, { ...job, stage: "asking" });
    step.emit({ kind: "adjust", generation, job_id, change, options });
  }
}

/** The agent has taken the change, or refused it: then nothing is changed. */
export function onAdjusted(step: Step, job_id: string, failure: Failure | undefined): void {
  const [job] = step.state.jobs;
  if (job?.kind !== "adjust" || job.job_id !== job_id || job.stage !== "asking") return;
  if (failure === undefined) keep(step, job);
  else refuseJob(step, job, failure);
}

function keep(step: Step, job: AdjustJob): void {
  const { model, permission_mode } = job.change;
  step.setRow({ options: job.options, ...defined({ model, permission_mode }) });
  step.publish(toNotice(step.state.row.backend, "settings_changed", { data: defined(job.change) }));
  become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
}
