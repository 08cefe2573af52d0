// run.json: identifies the process of a run directory, so that no other process is mistaken for it.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import type { Child } from "../child.ts";
import { identify, type ProcessId } from "../descendants.ts";
import { checkDescription, type RunDirectory, unusableError } from "./directory.ts";

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

/** The same in every format. */
const AnyDescription = RunDescription.pick({ format: true, version: true, pid: true, started: true }).loose();

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

/** Throws, with the reason, if it is missing, not a description, or in another format. */
export function readDescription(directory: RunDirectory): RunDescription {
  const any = readAny(directory);
  if (any.format !== RUN_FORMAT)
    throw unusableError(`it was started by blemeesd ${any.version}, which uses another run format`);
  const { data, error } = RunDescription.safeParse(any);
  if (data === undefined) throw unusableError(`its run.json is incomplete: ${z.prettifyError(error)}`);
  return data;
}

/** The process, whatever the format; undefined if unknown, or if another user can have written it. */
export function readProcessId(directory: RunDirectory): ProcessId | undefined {
  try {
    checkDescription(directory);
    const { pid, started } = readAny(directory);
    return { pid, started };
  } catch {
    return undefined;
  }
}

function readAny({ description }: RunDirectory): z.infer<typeof AnyDescription> {
  const text = readFileSync(description, "utf8");
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw unusableError("its run.json is not JSON", cause);
  }
  const { data, error } = AnyDescription.safeParse(content);
  if (data === undefined) throw unusableError(`its run.json describes no process: ${z.prettifyError(error)}`);
  return data;
}
