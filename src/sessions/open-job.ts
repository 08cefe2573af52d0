// The job of a client that opens a session.
import { defined } from "../base/values.ts";
import type { OpenJob } from "./core/jobs.ts";
import type { Client, OpenOrder } from "./types.ts";

export function toOpenJob(
  job_id: string,
  { id: client_id, isGone = false }: Client,
  { resume, last_seen_seq, answers, options, project }: OpenOrder,
): OpenJob {
  const wishes = defined({ last_seen_seq, answers, options, project });
  return { kind: "open", job_id, client_id, isGone, resume, ...wishes };
}
