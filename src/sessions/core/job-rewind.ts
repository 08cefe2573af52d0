// The job that lets the agent forget turns. History is kept: a notice says which turns are no longer in the conversation.
import type { Rewound } from "../../backends/types.ts";
import { toNotice } from "../../protocol/notices.ts";
import { become, finishJob, refuseJob } from "./job-moves.ts";
import type { RewindJob } from "./jobs.ts";
import { busyError, unknownSessionError } from "./refusals.ts";
import { startRun, stopRun } from "./run-steps.ts";
import { isClosing, isEngaged, isRepeating } from "./state.ts";
import type { Step } from "./step.ts";

export function rewind(step: Step, job: RewindJob): void {
  const { state } = step;
  switch (job.stage) {
    case undefined:
    case "starting":
      if (isClosing(state)) {
        refuseJob(step, job, unknownSessionError(state.row.session_id));
        return;
      }
      if (isEngaged(state) || isRepeating(state)) {
        refuseJob(step, job, busyError());
        return;
      }
      if (state.run === undefined) {
        become(step, { ...job, stage: "starting" });
        startRun(step, { resume: true, needsRoom: true });
        return;
      }
      become(step, { ...job, stage: "asking", wasUp: job.stage === undefined });
      step.emit({ kind: "rewind", job_id: job.job_id, turns: job.turns.map(({ turn_id }) => turn_id) });
      return;
    case "stopping":
      report(step, job);
      become(step, { ...job, stage: "writing", write_id: step.write({ for: "job" }) });
      return;
    default:
      finishJob(step);
      step.reply(job.job_id, job.outcome);
      if (job.wasUp === true && job.outcome?.first !== undefined)
        step.set({ jobs: [{ kind: "warm", waiters: [] }, ...step.state.jobs] });
  }
}

/** The agent may write its history late, but has when it is stopped gracefully. */
export function onRewound(step: Step, job_id: string, outcome: Rewound): void {
  const [job] = step.state.jobs;
  if (job?.kind !== "rewind" || job.job_id !== job_id || job.stage !== "asking") return;
  become(step, { ...job, stage: "stopping", outcome });
  const isIdle = step.state.phase.name === "ready" && !isEngaged(step.state);
  if (outcome.first !== undefined && isIdle) stopRun(step, "finish");
}

function report(step: Step, { turns, outcome }: RewindJob): void {
  const at = turns.findIndex(({ turn_id }) => turn_id === outcome?.first);
  const forgotten = at === -1 ? [] : turns.slice(at);
  const [first] = forgotten;
  if (first === undefined) return;
  const data = { turn: first.turn, turn_ids: forgotten.map(({ turn_id }) => turn_id) };
  const text = `the agent has forgotten turn ${first.turn} and later`;
  step.publish(toNotice(step.state.row.backend, "conversation_rewound", { text, data }));
}
