// The background commands that a tool may use.
import type { Jobs } from "../jobs/jobs.ts";
import { type ToolContext, ToolError } from "./types.ts";

/** Throws `no_jobs`. */
export function requireJobs({ jobs }: ToolContext): Jobs {
  if (jobs !== undefined) return jobs;
  throw new ToolError("no_jobs", "only the main agent can run commands in the background");
}
