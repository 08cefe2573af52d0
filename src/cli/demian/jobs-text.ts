// The background commands of a session, for /jobs.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { JobView } from "../../runtime/jobs/jobs.ts";
import type { DemianSession } from "../../runtime/session-types.ts";
import { formatSeconds } from "./usage-text.ts";

const MAX_COMMAND = 100;

/** `kill N` ends one. Throws `bad_command`. */
export async function runJobsCommand(
  session: Pick<DemianSession, "jobs"> | undefined,
  word: string,
): Promise<string> {
  const jobs = session?.jobs.list() ?? [];
  if (word === "") {
    if (jobs.length === 0) return "no background commands; the agent starts them with bash";
    return jobs.map(formatJob).join("\n");
  }
  const id = Number(/^kill\s+(\d+)$/.exec(word)?.[1]);
  const job = jobs.find((one) => one.id === id);
  if (session === undefined || job === undefined) {
    const known = jobs.filter(({ end }) => end === undefined).map((one) => one.id);
    throw new CodedError(
      "bad_command",
      `use /jobs, or /jobs kill N with one of: ${known.join(", ") || "none runs"}`,
    );
  }
  return formatJob(await session.jobs.kill(id));
}

function formatJob({ id, command, started_ms, ended_ms, end, outputBytes }: JobView): string {
  const line = sanitizeLine(command);
  const shown = line.length > MAX_COMMAND ? `${line.slice(0, MAX_COMMAND)}…` : line;
  const took = formatSeconds((ended_ms ?? Date.now()) - started_ms);
  return `${id}  ${end ?? "running"}, ${took}, ${outputBytes} bytes  ${shown}`;
}
