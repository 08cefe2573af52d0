// One command, from its start to the end of everything that it started.
import { readFile } from "node:fs/promises";
import { type Child, type ChildPipe, startChild, within } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import type { CommandOrder, CommandResult, SandboxAdapter } from "./types.ts";

/** What is really executed for a command. */
export interface Launch {
  adapter: SandboxAdapter;
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The program for `--seccomp`; present: this is bubblewrap, with its two descriptors. */
  seccomp?: Buffer;
}

/** Marks what a command starts. Not the daemon's marker: that one is on us, and on all our commands at once. */
export const COMMAND_MARKER = "DEMIAN_COMMAND_ID";
const MAX_COMPLAINTS = 20;
const POLL_MS = 2;
const NAMESPACE_LIMIT_MS = 2000;

/** Resolves when the shell has ended and nothing of it is left, whoever still held its output open. */
export async function runLaunch(launch: Launch, order: CommandOrder): Promise<CommandResult> {
  const { adapter } = launch;
  const result = (more: Partial<CommandResult>): CommandResult => ({
    timedOut: false,
    aborted: false,
    adapter,
    ...more,
  });
  if (order.signal.aborted) return result({ aborted: true });
  const complaints: string[] = [];
  const status = new StatusReader();
  const child = await start(launch, order, {
    pipes: launch.seccomp === undefined ? [] : [{ input: launch.seccomp }, status],
    complain: (line) => complaints.length < MAX_COMPLAINTS && complaints.push(line),
  });
  const cause = await waitForEnd(child, order);
  await status.namespaceGone();
  if (cause === "timeout") return result({ timedOut: true });
  if (cause === "abort") return result({ aborted: true });
  const exit = await child.exit;
  if (launch.seccomp === undefined || status.hasRun) return result(exit);
  // Ended from outside, as when memory runs out: nobody can say how far the command came.
  if (exit.signal !== undefined && complaints.length === 0) return result(exit);
  throw notStarted(launch, order, complaints);
}

async function start(
  launch: Launch,
  order: CommandOrder,
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
      { output: (chunk) => order.output(chunk), errorLine: (line) => wires.complain(line) },
    );
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    if (error.data?.["reason"] !== "too_long") throw new ToolError("sandbox_failed", error.message);
    throw new ToolError("command_too_long", tooLong(order));
  }
}

function tooLong({ command, env }: CommandOrder): string {
  const variables = Object.entries(env).map(([name, value]) => ({ name, size: name.length + value.length }));
  const total = variables.reduce((sum, { size }) => sum + size, 0);
  if (total <= command.length) {
    return `the command has ${command.length} characters; write it to a script in the workspace and run that`;
  }
  const [largest] = variables.sort((a, b) => b.size - a.size);
  return `the environment has ${total} characters, more than the system takes: start again without ${largest?.name}, its largest variable`;
}

type Cause = "exit" | "timeout" | "abort";

async function waitForEnd(child: Child, order: CommandOrder): Promise<Cause> {
  let cause: Cause = "exit";
  let hasExited = false;
  void child.exit.then(() => {
    hasExited = true;
  });
  // `done` never comes for a process that the kernel does not let go; `stop` is bounded.
  const stopped = new Promise<void>((resolve) => {
    const end = (why: Cause) => () => {
      if (!hasExited && cause === "exit") cause = why;
      void child.stop().then(resolve);
    };
    const timer = setTimeout(end("timeout"), order.timeoutMs);
    const abort = end("abort");
    order.signal.addEventListener("abort", abort, { once: true });
    void child.done.then(() => {
      clearTimeout(timer);
      order.signal.removeEventListener("abort", abort);
    });
    if (order.signal.aborted) abort();
  });
  await Promise.race([child.done, stopped]);
  return cause;
}

/** What bubblewrap tells about the command: who is the first process of its namespace, and that it has ended. */
class StatusReader implements ChildPipe {
  #text = "";

  output(chunk: Buffer): void {
    this.#text += chunk.toString("latin1");
  }

  /** Bubblewrap tells the exit code only of a command that it could start. */
  get hasRun(): boolean {
    return /"exit-code"/.test(this.#text);
  }

  /** The first process of a pid namespace is gone when, and not before, all the others are. */
  async namespaceGone(): Promise<void> {
    const pid = /"child-pid": (\d+)/.exec(this.#text)?.[1];
    if (pid === undefined) return;
    const deadline = performance.now() + NAMESPACE_LIMIT_MS;
    while (performance.now() < deadline && (await isThere(pid)))
      await within(POLL_MS, new Promise(() => undefined));
  }
}

async function isThere(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

function notStarted(launch: Launch, order: CommandOrder, complaints: readonly string[]): ToolError {
  const why = complaints.join("; ") || "it gave no reason";
  return new ToolError(
    "sandbox_failed",
    `the command was not run: ${launch.adapter} could not hold it in ${order.cwd}: ${why}`,
  );
}
