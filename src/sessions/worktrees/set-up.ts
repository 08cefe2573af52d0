// Runs the set-up command of a new worktree (`npm ci`) before its first agent starts. It comes from the user's settings, never
// from the repository.
import { startChild } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";

export interface SetUpOrder {
  command: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

const LIMIT_MS = 15 * 60_000;
const KEPT_LINES = 10;

/** Throws `worktree_refused` with the end of its output. */
export async function runSetUp({ command, cwd, env }: SetUpOrder): Promise<void> {
  const lines: string[] = [];
  const keep = (line: string): void => {
    if (line.trim() === "") return;
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
  };
  let isLate = false;
  const child = await startChild(
    { command: "/bin/sh", args: ["-c", command], cwd, env: { ...env }, input: Buffer.alloc(0) },
    { output: (chunk) => chunk.toString("utf8").split("\n").forEach(keep), errorLine: keep },
  );
  const timer = setTimeout(() => {
    isLate = true;
    void child.stop({});
  }, LIMIT_MS).unref();
  const { code, signal } = await child.done;
  clearTimeout(timer);
  if (code === 0) return;
  const how = isLate
    ? `took longer than ${LIMIT_MS / 60_000} minutes`
    : `ended with ${signal ?? `code ${code}`}`;
  const said = lines.join("\n").slice(-2000);
  throw new CodedError(
    "worktree_refused",
    `the set-up command of the worktree ${how}: ${command}${said === "" ? "" : `\n${said}`}`,
  );
}
