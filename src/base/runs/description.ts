// run.json: identifies the process of a run directory, so that no other process is mistaken for it.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import type { Child } from "../child.ts";
import { identify } from "../descendants.ts";
import type { RunDirectory } from "./directory.ts";

/**
 * Raised when a snapshot, the record or the meaning of either changes: daemons with another format then refuse the run
 * and end it.
 */
export const RUN_FORMAT = 1;

export const RunDescription = z.object({
  format: z.number().int(),
  /** Of the daemon that started it. */
  version: z.string(),
  backend: z.string(),
  pid: z.number().int().positive(),
  /** Boot id and start time of the process: distinguishes it from a later process with the same pid. */
  started: z.string().min(1),
  command: z.string(),
  started_at_ms: z.number(),
  /** What the agent said about itself at the start. */
  intro: z.record(z.string(), z.unknown()),
});
export type RunDescription = z.infer<typeof RunDescription>;

function writeDescription({ description, path }: RunDirectory, content: RunDescription): void {
  writeFileSync(`${path}/.run.json`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}/.run.json`, description);
}

/** Writes run.json, without which a process is not adopted. Writes nothing if the start time is unknown. */
export async function describeRun(
  { files, pid }: Child,
  about: Pick<RunDescription, "version" | "backend" | "command" | "intro">,
): Promise<void> {
  const id = await identify(pid);
  if (files === undefined || id === undefined || id.started === "") return;
  const started_at_ms = Date.now();
  files.keep(() => writeDescription(files.directory, { format: RUN_FORMAT, ...about, ...id, started_at_ms }));
}

/** Throws if it is missing or not a description. */
export function readDescription({ description }: RunDirectory): RunDescription {
  return RunDescription.parse(JSON.parse(readFileSync(description, "utf8")));
}
