// Which claude is there, and whether it speaks the control protocol. Asked once per file: the answer is kept
// until the file changes.
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { findProgram } from "../find-program.ts";
import type { Environment } from "./paths.ts";

export interface Detected {
  path: string;
  version: string;
  /** To anything that is not Claude Code ≥ 2.1, every line on stdin may be a user turn. */
  speaksControl: boolean;
}

const LIMIT_MS = 5000;

export class Detector {
  readonly #bin: string;
  readonly #env: Environment;
  #known: { path: string; mtimeMs: number; answer: Promise<Detected | undefined> } | undefined;

  constructor(bin: string, env: Environment) {
    this.#bin = bin;
    this.#env = env;
  }

  /** Undefined when there is no such program or it does not tell its version. Never throws. */
  async detect(): Promise<Detected | undefined> {
    const path = await findProgram(this.#bin, this.#env);
    if (path === undefined) return undefined;
    const mtimeMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    if (this.#known?.path === path && this.#known.mtimeMs === mtimeMs) return this.#known.answer;
    const answer = askVersion(path, this.#env);
    this.#known = { path, mtimeMs, answer };
    // A failure (a slow disk, too many processes) is not remembered.
    if ((await answer) === undefined) this.#known = undefined;
    return answer;
  }
}

export function speaksControl(said: string): boolean {
  const [major = 0, minor = 0] = (versionIn(said) ?? "").split(".").map(Number);
  return /Claude Code/.test(said) && (major > 2 || (major === 2 && minor >= 1));
}

export function versionIn(said: string): string | undefined {
  return /\d+(?:\.\d+)+/.exec(said)?.[0];
}

function askVersion(path: string, env: Environment): Promise<Detected | undefined> {
  return new Promise((answer) => {
    const options = { timeout: LIMIT_MS, killSignal: "SIGKILL", env } as const;
    const child = execFile(path, ["--version"], options, (error, stdout) => {
      const version = error === null ? versionIn(stdout) : undefined;
      answer(version === undefined ? undefined : { path, version, speaksControl: speaksControl(stdout) });
    });
    // A stub that reads its input before it answers must not wait for us.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}
