// Finds the claude program, its version, and whether it speaks the control protocol.

import { askProgram, readVersion, speaksControl } from "../../base/claude-wire/version.ts";
import { FileCache } from "../../base/file-cache.ts";
import { findProgram } from "../../base/find-program.ts";
import type { Environment } from "../types.ts";

export interface DetectedClaude {
  path: string;
  version: string;
  speaksControl: boolean;
}

const LIMIT_MS = 5000;

export class ClaudeDetector {
  readonly #bin: string;
  readonly #env: Environment;
  readonly #cache = new FileCache<DetectedClaude>();

  constructor(bin: string, env: Environment) {
    this.#bin = bin;
    this.#env = env;
  }

  /** Undefined if there is no such program or it does not report a version. Never throws. */
  async detect(): Promise<DetectedClaude | undefined> {
    const path = await findProgram(this.#bin, this.#env);
    if (path === undefined) return undefined;
    return this.#cache.get(path, () => askVersion(path, this.#env)).catch(() => undefined);
  }
}

async function askVersion(path: string, env: Environment): Promise<DetectedClaude> {
  const said = await askProgram(path, "--version", { env, limitMs: LIMIT_MS });
  const version = "text" in said ? readVersion(said.text) : undefined;
  if ("fault" in said || version === undefined) throw new Error(`${path} does not report a version`);
  return { path, version, speaksControl: speaksControl(said.text) };
}
