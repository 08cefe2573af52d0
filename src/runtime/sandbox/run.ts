// Runs one command until everything it started has ended.
import { readFile } from "node:fs/promises";
import { type Child, type ChildPipe, startChild, waitAtMost } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { Limits } from "./limits.ts";
import { removeProcessGroup } from "./process-group.ts";
import type { CommandRequest, CommandResult, SandboxAdapter } from "./types.ts";
import { type Exceeded, Watch } from "./watch.ts";

/** The process to execute for a command. */
export interface Launch {
  adapter: SandboxAdapter;
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The program for `--seccomp`; present only for bubblewrap, with its two descriptors. */
  seccomp?: Buffer;
  /** Watched while it runs. */
  limits?: Limits | undefined;
  /** The control group that it joins; removed after it. */
  group?: string | undefined;
}

/** Marks a command's processes. The daemon's marker is shared by all commands, and by us. */
export const COMMAND_MARKER = "DEMIAN_COMMAND_ID";
const MAX_COMPLAINTS = 20;
const POLL_MS = 2;
const NAMESPACE_LIMIT_MS = 2000;

/** Resolves when the shell and all its processes have ended, even if its output is still open. */
export async function runLaunch(launch: Launch, request: CommandRequest): Promise<CommandResult> {
  try {
    return await runOnce(launch, request);
  } finally {
    // Nobody waits for it: the kernel may need a moment.
    if (launch.group !== undefined) void removeProcessGroup(launch.group);
  }
}

async function runOnce(launch: Launch, request: CommandRequest): Promise<CommandResult> {
  const { adapter } = launch;
  const result = (more: Partial<CommandResult>): CommandResult => ({
    timedOut: false,
    aborted: false,
    adapter,
    ...more,
  });
  if (request.signal.aborted) return result({ aborted: true });
  const complaints: string[] = [];
  const status = new StatusReader();
  const child = await start(launch, request, {
    pipes: launch.seccomp === undefined ? [] : [{ input: launch.seccomp }, status],
    complain: (line) => complaints.length < MAX_COMPLAINTS && complaints.push(line),
  });
  const cause = await waitForEnd(child, request, (end) => watch(launch, status, end));
  await status.waitForNamespace();
  if (cause === "timeout") return result({ timedOut: true });
  if (cause === "abort") return result({ aborted: true });
  if (cause !== "exit") return result({ exceeded: cause });
  const exit = await child.exit;
  if (launch.seccomp === undefined || status.hasRun) return result(exit);
  // Killed from outside, for example out of memory: the command may have run in part.
  if (exit.signal !== undefined && complaints.length === 0) return result(exit);
  throw createStartError(launch, request, complaints);
}

async function start(
  launch: Launch,
  request: CommandRequest,
  wires: { pipes: readonly ChildPipe[]; complain(line: string): void },
): Promise<Child> {
  const [command = "", ...args] = launch.words;
  const { [COMMAND_MARKER]: _outer, ...env } = launch.env;
  try {
    return await startChild(
      {
        ...{ command, args, cwd: launch.cwd, env, pipes: wires.pipes, marker: COMMAND_MARKER },
        endsWhole: launch.seccomp !== undefined,
      },
      { output: (chunk) => request.output(chunk), errorLine: (line) => wires.complain(line) },
    );
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    if (error.data?.["reason"] !== "too_long") throw new ToolError("sandbox_failed", error.message);
    throw new ToolError("command_too_long", describeTooLong(request));
  }
}

function describeTooLong({ command, env }: CommandRequest): string {
  const variables = Object.entries(env).map(([name, value]) => ({ name, size: name.length + value.length }));
  const total = variables.reduce((sum, { size }) => sum + size, 0);
  if (total <= command.length) {
    return `the command has ${command.length} characters; write it to a script in the workspace and run the script`;
  }
  const [largest] = variables.sort((a, b) => b.size - a.size);
  return `the environment has ${total} characters, more than the system allows; restart without ${largest?.name}, its largest variable`;
}

type Cause = "exit" | "timeout" | "abort" | Exceeded;

function watch({ limits }: Launch, status: StatusReader, end: (why: Exceeded) => void): Watch | undefined {
  return limits === undefined ? undefined : new Watch(limits, () => status.pid, end);
}

async function waitForEnd(
  child: Child,
  request: CommandRequest,
  watchUse: (end: (why: Exceeded) => void) => Watch | undefined,
): Promise<Cause> {
  let cause: Cause = "exit";
  let hasExited = false;
  void child.exit.then(() => {
    hasExited = true;
  });
  // `done` never resolves for a process stuck in the kernel; `stop` is bounded.
  const stopped = new Promise<void>((resolve) => {
    const end = (why: Cause) => () => {
      if (!hasExited && cause === "exit") cause = why;
      void child.stop().then(resolve);
    };
    const timer = setTimeout(end("timeout"), request.timeoutMs);
    const abort = end("abort");
    request.signal.addEventListener("abort", abort, { once: true });
    const use = watchUse((why) => end(why)());
    void child.done.then(() => {
      clearTimeout(timer);
      use?.close();
      request.signal.removeEventListener("abort", abort);
    });
    if (request.signal.aborted) abort();
  });
  await Promise.race([child.done, stopped]);
  return cause;
}

/** bubblewrap's status: the first process of the namespace, and the exit code. */
class StatusReader implements ChildPipe {
  #text = "";

  output(chunk: Buffer): void {
    this.#text += chunk.toString("latin1");
  }

  /** The exit code is reported only if the command was started. */
  get hasRun(): boolean {
    return /"exit-code"/.test(this.#text);
  }

  /** The first process of the pid namespace. */
  get pid(): string | undefined {
    return /"child-pid": (\d+)/.exec(this.#text)?.[1];
  }

  /** Waits for the first process of the pid namespace, which ends after all others. */
  async waitForNamespace(): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    const deadline = performance.now() + NAMESPACE_LIMIT_MS;
    while (performance.now() < deadline && (await isRunning(pid)))
      await waitAtMost(POLL_MS, new Promise(() => undefined));
  }
}

async function isRunning(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

function createStartError(launch: Launch, request: CommandRequest, complaints: readonly string[]): ToolError {
  const why = complaints.join("; ") || "no reason given";
  return new ToolError(
    "sandbox_failed",
    `the command was not run: ${launch.adapter} failed to start in ${request.cwd}: ${why}`,
  );
}
