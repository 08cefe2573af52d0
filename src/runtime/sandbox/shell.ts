// Chooses the shell for a command line, and what it does not inherit.
import { isExecutable } from "../../base/executable.ts";
import { JOIN_GROUP } from "./process-group.ts";

const BASH = "/bin/bash";
const SH = "/bin/sh";

/** Variables that change the shell before the command runs: startup files, options, functions. */
const SHELL_STARTUP = /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|BASH_FUNC_.*)$/;

/**
 * Runs before the command in a separate shell: closes inherited descriptors (Node marks only the low ones), disables core
 * files and input, and merges stdout and stderr in order. Later text on stderr comes from the sandbox.
 */
const FINISH = 'ulimit -c 0; exec "$@" </dev/null 2>&1';
const BASH_CLOSE = `for fd in /dev/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi; done`;
// POSIX shells support only one digit.
const SH_CLOSE = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
/** If memory runs out, the kernel ends commands first. */
const FIRST_VICTIM = "echo 1000 2>/dev/null > /proc/self/oom_score_adj";

export async function findShell(): Promise<string> {
  return (await isExecutable(BASH)) ? BASH : SH;
}

/** The argv for a command line. `setUp`: shell commands that prepare its process. */
export function buildShellArgv(shell: string, command: string, setUp: readonly string[] = []): string[] {
  const prelude = [shell === SH ? SH_CLOSE : BASH_CLOSE, ...setUp, FINISH].join("; ");
  if (shell === SH) return [SH, "-c", prelude, "sh", SH, "-c", command, "sh"];
  const bash = [shell, "--norc", "--noprofile", "-c"];
  return [...bash, prelude, "bash", ...bash, command, "bash"];
}

/** What a command's process does to limit itself. Inside the sandbox, where only its own processes are counted. */
export function limitProcess(shell: string, processes: number | undefined): string[] {
  // POSIX shells have no option for processes, or one of their own.
  const option = shell === SH ? "-p" : "-u";
  return [FIRST_VICTIM, ...(processes === undefined ? [] : [`ulimit ${option} ${processes} || exit 1`])];
}

/**
 * Gives a program a kernel pipe for its output. Node's pipes are sockets, which cannot be opened by name: `echo problem >
 * /dev/stderr` would fail. The program replaces this shell, so that it stays our child; it must end all writers, or `cat`
 * would wait for them. `group`: a control group to join first.
 */
export function wrapWithPipe(shell: string, words: readonly string[], group?: string): string[] {
  const join = group === undefined ? "" : `${JOIN_GROUP}; `;
  if (shell === SH) return group === undefined ? [...words] : [SH, "-c", `${join}exec "$@"`, group, ...words];
  const script = `${join}exec "$@" > >(exec cat 3<&- 4>&-)`;
  return [shell, "--norc", "--noprofile", "-c", script, group ?? "bash", ...words];
}

export function removeStartupVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SHELL_STARTUP.test(name)));
}
