// How a command line becomes a process: which shell, and what it does not inherit.
import { access, constants } from "node:fs/promises";

const BASH = "/bin/bash";
const SH = "/bin/sh";

/** Files that a shell reads, or options and functions that it takes, before the command has a say. */
const SHELL_STARTUP = /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|BASH_FUNC_.*)$/;

/**
 * Runs before the command in a shell of its own: descriptors that our starter left open are closed (Node marks only
 * the low ones), no core files, no input, and one stream of output in the order it was written. What is still said
 * on stderr afterwards comes from the sandbox and not from the command.
 */
const FINISH = 'ulimit -c 0; exec "$@" </dev/null 2>&1';
const BASH_PRELUDE = `for fd in /dev/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi; done; ${FINISH}`;
// Only one digit may stand there in every shell.
const SH_PRELUDE = `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ${FINISH}`;

export async function findShell(): Promise<string> {
  const found = await access(BASH, constants.X_OK).then(
    () => true,
    () => false,
  );
  return found ? BASH : SH;
}

/** The words to execute for a command line. */
export function shellWords(shell: string, command: string): string[] {
  if (shell === SH) return [SH, "-c", SH_PRELUDE, "sh", SH, "-c", command, "sh"];
  const bash = [shell, "--norc", "--noprofile", "-c"];
  return [...bash, BASH_PRELUDE, "bash", ...bash, command, "bash"];
}

/**
 * Makes the output of a program that is not a shell's child a pipe of the kernel. What Node calls a pipe is a socket,
 * which cannot be opened by name: `echo problem > /dev/stderr` fails on it. The program replaces this shell, so that it
 * stays our own child; it must end everything that writes there, or `cat` would wait for it.
 */
export function pipedWords(shell: string, words: readonly string[]): string[] {
  if (shell === SH) return [...words];
  return [shell, "--norc", "--noprofile", "-c", 'exec "$@" > >(exec cat 3<&- 4>&-)', "bash", ...words];
}

export function withoutStartup(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SHELL_STARTUP.test(name)));
}
