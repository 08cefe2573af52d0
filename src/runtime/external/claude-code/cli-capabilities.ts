// What the installed `claude` can do, asked of itself: its version, and the flags that its help lists. Asked once per
// file; the answer is kept until the file changes.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import type { Env } from "../../state-dir.ts";
import { ClaudeFailure } from "./transport.ts";

export interface Capabilities {
  version: string;
  /** "--resume", …; undefined: its help could not be read, so nothing is known to be missing. */
  flags: ReadonlySet<string> | undefined;
}

/** Older ones do not ask before a tool runs. */
const MIN_VERSION = [2, 1] as const;
const LIMIT_MS = 15_000;

export class CapabilityProbe {
  #known: { mark: string; answer: Promise<Capabilities> } | undefined;

  /** Throws `ClaudeFailure`: it is too old, or no Claude Code at all. */
  async find(path: string, env: Env): Promise<Capabilities> {
    const file = await stat(path).catch(() => undefined);
    const mark = [path, file?.mtimeMs, file?.size, file?.ino].join(" ");
    if (this.#known?.mark !== mark) {
      const answer = probe(path, env);
      this.#known = { mark, answer };
      // A failure (a slow disk, too many processes) is not remembered.
      answer.catch(() => {
        if (this.#known?.answer === answer) this.#known = undefined;
      });
    }
    return this.#known.answer;
  }
}

async function probe(path: string, env: Env): Promise<Capabilities> {
  const [said, help] = await Promise.all([ask(path, "--version", env), ask(path, "--help", env)]);
  if ("fault" in said) {
    throw new ClaudeFailure("start_failed", `\`${path} --version\` does not answer: ${said.fault}`);
  }
  const version = /\d+(?:\.\d+)+/.exec(said.text)?.[0];
  if (version === undefined || !said.text.includes("Claude Code")) {
    const shown = said.text.trim().slice(0, 80);
    throw new ClaudeFailure("start_failed", `${path} is not Claude Code: its --version says "${shown}"`);
  }
  if (!isNewEnough(version)) {
    throw new ClaudeFailure(
      "start_failed",
      `${path} is Claude Code ${version}, which cannot be asked before a tool runs; ${MIN_VERSION.join(".")} or newer is needed: run \`claude update\``,
    );
  }
  return { version, flags: "fault" in help ? undefined : flagsIn(help.text) };
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}

/** Undefined: this is no list of flags. */
export function flagsIn(help: string): ReadonlySet<string> | undefined {
  const flags = help.split("\n").flatMap((line) => {
    // "  -r, --resume [value]   Resume …": names come first; what is said about them may name others.
    const names = /^\s+((?:-\w|--[\w-]+)(?:, (?:-\w|--[\w-]+))*)/.exec(line)?.[1];
    return names?.split(", ") ?? [];
  });
  return flags.length === 0 ? undefined : new Set(flags);
}

function ask(path: string, flag: string, env: Env): Promise<{ text: string } | { fault: string }> {
  return new Promise((resolve) => {
    const options = { timeout: LIMIT_MS, killSignal: "SIGKILL", env, cwd: homedir() } as const;
    const child = execFile(path, [flag], options, (error, stdout, stderr) => {
      if (error === null) resolve({ text: stdout });
      else resolve({ fault: (stderr.trim().split("\n").at(-1) || error.message).slice(0, 300) });
    });
    // One that reads its input before it answers must not wait for us.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}
