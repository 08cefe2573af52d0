// Commands that run in the background of a session, in its sandbox. They end with the session; their last output is kept in
// memory.
import { toMessage } from "../../base/coded-error.ts";
import type { CommandResult, Sandbox } from "../sandbox/types.ts";
import { describeEnd } from "../tools/bash-end.ts";
import { Tail, trimPartialEnd, trimPartialStart } from "../tools/output.ts";
import { ToolError } from "../tools/types.ts";

export interface JobOrder {
  command: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Absent: as long as the session. */
  timeoutMs?: number | undefined;
}

export interface JobView {
  id: number;
  command: string;
  cwd: string;
  started_ms: number;
  /** Absent while it runs. */
  ended_ms?: number;
  /** How it ended: "exit code 0". */
  end?: string;
  outputBytes: number;
}

export interface JobOutput {
  /** Output since the last call, at most the last 64 KB. */
  text: string;
  /** Bytes before it that were never returned. */
  skippedBytes: number;
  job: JobView;
}

export const MAX_RUNNING_JOBS = 8;
/** Ended jobs that are kept, with their output. */
const MAX_ENDED = 16;
const MAX_TAIL_BYTES = 64 * 1024;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

interface Job extends JobView {
  tail: Tail;
  readBytes: number;
  abort: AbortController;
  done: Promise<void>;
}

export class Jobs {
  readonly #sandbox: Sandbox;
  readonly #onEnd: (job: JobView) => void;
  readonly #jobs = new Map<number, Job>();
  #last = 0;
  #unreported: JobView[] = [];
  #isClosed = false;

  constructor(sandbox: Sandbox, onEnd: (job: JobView) => void) {
    this.#sandbox = sandbox;
    this.#onEnd = onEnd;
  }

  /** Throws `too_many_jobs`. A command that cannot be started is a job that has ended. */
  start(order: JobOrder): JobView {
    if (this.#isClosed) throw new ToolError("closed", "the session is closed");
    const running = [...this.#jobs.values()].filter(isRunning);
    if (running.length >= MAX_RUNNING_JOBS) {
      const ids = running.map(({ id }) => id).join(", ");
      throw new ToolError(
        "too_many_jobs",
        `${running.length} jobs are running (${ids}); end one with kill_job`,
      );
    }
    this.#last += 1;
    const { command, cwd } = order;
    const job: Job = {
      ...{ id: this.#last, command, cwd, started_ms: Date.now(), outputBytes: 0, readBytes: 0 },
      tail: new Tail(MAX_TAIL_BYTES),
      abort: new AbortController(),
      done: Promise.resolve(),
    };
    this.#jobs.set(job.id, job);
    job.done = this.#run(job, order);
    this.#dropOld();
    return toView(job);
  }

  /** Oldest first. */
  list(): JobView[] {
    return [...this.#jobs.values()].map(toView);
  }

  /** Throws `unknown_job`. */
  read(id: number): JobOutput {
    const job = this.#find(id);
    const bytes = job.tail.toBytes();
    const fresh = Math.min(job.outputBytes - job.readBytes, bytes.length);
    const skippedBytes = job.outputBytes - job.readBytes - fresh;
    const whole = trimPartialStart(bytes.subarray(bytes.length - fresh));
    // The rest of a character arrives with the next output.
    const part = isRunning(job) ? trimPartialEnd(whole) : whole;
    job.readBytes = job.outputBytes - (whole.length - part.length);
    return { text: part.toString("utf8"), skippedBytes, job: toView(job) };
  }

  /** Resolves when it has ended. Throws `unknown_job`. */
  async kill(id: number): Promise<JobView> {
    const job = this.#find(id);
    job.abort.abort();
    await job.done;
    this.#unreported = this.#unreported.filter((one) => one.id !== id);
    return toView(job);
  }

  /** The jobs that have ended since the last call, for the model. */
  takeReports(): readonly JobView[] {
    const reports = this.#unreported;
    this.#unreported = [];
    return reports;
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { abort } of this.#jobs.values()) abort.abort();
    await Promise.all([...this.#jobs.values()].map(({ done }) => done));
  }

  async #run(job: Job, { command, cwd, env, timeoutMs = MAX_TIMEOUT_MS }: JobOrder): Promise<void> {
    const output = (chunk: Buffer): void => {
      job.tail.push(chunk);
      job.outputBytes += chunk.length;
    };
    const { signal } = job.abort;
    const end = await this.#sandbox
      .run({ command, cwd, env, timeoutMs, signal, output })
      .then((result: CommandResult) => describeEnd(result, timeoutMs), toMessage);
    job.end = signal.aborted ? "killed" : end;
    job.ended_ms = Date.now();
    if (this.#isClosed) return;
    const view = toView(job);
    this.#unreported.push(view);
    this.#onEnd(view);
  }

  #find(id: number): Job {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    const known = [...this.#jobs.keys()].join(", ") || "none";
    throw new ToolError("unknown_job", `there is no job ${id}; jobs of this session: ${known}`);
  }

  #dropOld(): void {
    const ended = [...this.#jobs.values()].filter((job) => !isRunning(job));
    for (const { id } of ended.slice(0, -MAX_ENDED)) this.#jobs.delete(id);
  }
}

/** For the model: one line per job. */
export function formatReports(reports: readonly JobView[]): string {
  return reports
    .map(
      ({ id, command, end }) =>
        `[job ${id} has ended: ${end}; tail_job shows its output: ${cutLine(command)}]`,
    )
    .join("\n");
}

/** For the user. */
export function formatJobEnd({ job, command, end }: { job: number; command: string; end: string }): string {
  return `job ${job} has ended (${end}): ${cutLine(command)}`;
}

function cutLine(command: string): string {
  const [line = ""] = command.trim().split("\n");
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
}

function isRunning({ ended_ms }: JobView): boolean {
  return ended_ms === undefined;
}

function toView({ tail: _tail, readBytes: _read, abort: _abort, done: _done, ...view }: Job): JobView {
  return view;
}
