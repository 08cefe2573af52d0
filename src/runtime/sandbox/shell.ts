// Chooses the shell for a command line, and what it does not inherit.
import { isExecutable } from "../../base/executable.ts";

const BASH = "/bin/bash";
const SH = "/bin/sh";

/** Variables that change the shell before the command runs: startup files, options, functions. */
const SHELL_STARTUP = /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|BASH_FUNC_.*)$/;

/**
 * Runs before the command in a separate shell: closes inherited descriptors (Node marks only the low ones), disables core
 * files and input, and merges stdout and stderr in order. Later text on stderr comes from the sandbox.
 */
const FINISH = 'ulimit -c 0; exec "$@" </dev/null 2>&1';
const BASH_PRELUDE = `for fd in /dev/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi; done; ${FINISH}`;
// POSIX shells support only one digit.
const SH_PRELUDE = `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ${FINISH}`;

export async function findShell(): Promise<string> {
  return (await isExecutable(BASH)) ? BASH : SH;
}

/** The argv for a command line. */
export function buildShellArgv(shell: string, command: string): string[] {
  if (shell === SH) return [SH, "-c", SH_PRELUDE, "sh", SH, "-c", command, "sh"];
  const bash = [shell, "--norc", "--noprofile", "-c"];
  return [...bash, BASH_PRELUDE, "bash", ...bash, command, "bash"];
}

/**
 * Gives a program a kernel pipe for its output. Node's pipes are sockets, which cannot be opened by name: `echo problem >
 * /dev/stderr` would fail. The program replaces this shell, so that it stays our child; it must end all writers, or `cat`
 * would wait for them.
 */
export function wrapWithPipe(shell: string, words: readonly string[]): string[] {
  if (shell === SH) return [...words];
  return [shell, "--norc", "--noprofile", "-c", 'exec "$@" > >(exec cat 3<&- 4>&-)', "bash", ...words];
}

export function removeStartupVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SHELL_STARTUP.test(name)));
}
