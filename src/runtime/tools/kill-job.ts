// kill_job: ends a background command.
import * as z from "zod";
import { defineTool } from "./define.ts";
import { requireJobs } from "./jobs.ts";

const Input = z.strictObject({
  job: z.int().min(1).describe("The number of the job, as bash returned it."),
});

export const killJobTool = defineTool({
  name: "kill_job",
  description: "Ends a background command that bash started, with all its processes.",
  input: Input,
  metadata: { sideEffect: "process", defaultDecision: "ask" },
  plan: ({ job }) =>
    Promise.resolve({ title: `kill_job: ${job}`, targets: [{ kind: "other", key: "kill_job" }] }),
  async execute({ job }, _, context) {
    const { end } = await requireJobs(context).kill(job);
    return { ok: true, content: `job ${job} has ended: ${end}` };
  },
});
