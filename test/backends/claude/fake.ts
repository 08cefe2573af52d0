// The fake claude (test/fakes/fake-claude.sh) under the real backend, in its own home.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createClaudeBackend } from "../../../src/backends/claude/index.ts";
import type { StartOrder } from "../../../src/backends/types.ts";
import { type Started, startBackend } from "../conformance.ts";
import { tempDir } from "../temp-dir.ts";

export const FAKE_CLAUDE = join(import.meta.dirname, "../../fakes/fake-claude.sh");

export interface FakeHome {
  home: string;
  cwd: string;
  env: Record<string, string>;
}

export function fakeHome(env: Record<string, string> = {}): FakeHome {
  const home = tempDir("fake-claude");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const base = { PATH: process.env["PATH"] ?? "", HOME: home, CLAUDE_CONFIG_DIR: join(home, ".claude") };
  return { home, cwd, env: { ...base, ...env } };
}

/** A started fake, stopped with the test. `home` makes two of them share transcripts. */
export async function startFake(
  options: Record<string, unknown> = {},
  over: Partial<StartOrder> & { home?: FakeHome; bin?: string; maxLineBytes?: number } = {},
): Promise<Started> {
  const { home = fakeHome(), bin = FAKE_CLAUDE, maxLineBytes, ...order } = over;
  const limit = maxLineBytes === undefined ? {} : { maxLineBytes };
  const backend = createClaudeBackend({ bin, env: home.env, ...limit });
  const started = await startBackend({ backend, options: { cwd: home.cwd, ...options } }, order);
  onTestFinished(() => started.run.stop("now"));
  return started;
}
