// tail_job: the new output of a background command.
import * as z from "zod";
import type { JobOutput } from "../jobs/jobs.ts";
import { defineTool } from "./define.ts";
import { requireJobs } from "./jobs.ts";

const Input = z.strictObject({
  job: z.int().min(1).describe("The number of the job, as bash returned it."),
});

export const tailJobTool = defineTool({
  name: "tail_job",
  description: "Returns the output of a background command since the last call, and whether it still runs.",
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  plan: ({ job }) =>
    Promise.resolve({ title: `tail_job: ${job}`, targets: [{ kind: "other", key: "tail_job" }] }),
  execute: ({ job }, _, context) =>
    Promise.resolve({ ok: true, content: formatOutput(requireJobs(context).read(job)) }),
});

function formatOutput({ text, skippedBytes, job }: JobOutput): string {
  const left = skippedBytes === 0 ? "" : `[… ${skippedBytes} bytes left out …]\n`;
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const state = job.end === undefined ? "running" : `ended: ${job.end}`;
  return `${left}${text}${gap}[${text === "" ? "no new output; " : ""}job ${job.id} ${state}]`;
}
