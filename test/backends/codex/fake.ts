// The fake codex (test/fakes/fake-codex.cjs) under the real backend, in its own home.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type CodexBackendOptions, createCodexBackend } from "../../../src/backends/codex/index.ts";
import type { Backend, StartOrder } from "../../../src/backends/types.ts";
import { type Started, startBackend } from "../conformance.ts";
import { tempDir } from "../temp-dir.ts";

export const FAKE_CODEX = join(import.meta.dirname, "../../fakes/fake-codex.cjs");

export interface FakeHome {
  home: string;
  cwd: string;
  env: Record<string, string>;
}

export function fakeHome(env: Record<string, string> = {}): FakeHome {
  const home = tempDir("fake-codex");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const codex = join(home, ".codex");
  mkdirSync(codex);
  const base = { PATH: process.env["PATH"] ?? "", HOME: home, CODEX_HOME: codex };
  return { home, cwd, env: { ...base, FAKE_CODEX_COUNT: join(home, "starts"), ...env } };
}

/** The pids of all codex processes started in this home, including those for detection. */
export function pidsOf({ home }: FakeHome): number[] {
  return readFileSync(join(home, "starts"), "utf8").trim().split("\n").map(Number);
}

export interface FakeCodex {
  backend: Backend;
  home: FakeHome;
  start(options?: Record<string, unknown>, over?: Partial<StartOrder>): Promise<Started>;
}

/** A new backend, closed with the test. */
export function fakeCodex(setup: Partial<CodexBackendOptions> & { home?: FakeHome } = {}): FakeCodex {
  const { home = fakeHome(), ...rest } = setup;
  const backend = createCodexBackend({ bin: FAKE_CODEX, env: home.env, ...rest });
  onTestFinished(() => backend.close?.());
  const start: FakeCodex["start"] = async (options = {}, over = {}) => {
    const started = await startBackend({ backend, options: { cwd: home.cwd, ...options } }, over);
    onTestFinished(() => started.run.stop("now"));
    return started;
  };
  return { backend, home, start };
}
