// The fake `codex mcp-server` (test/fakes/fake-codex-mcp.cjs) under the real transport, in its own home.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { askVersion } from "../../../src/backends/codex/detect.ts";
import { startMcpRun } from "../../../src/backends/codex/mcp-server/run.ts";
import { CodexOptions, checkCodexOptions } from "../../../src/backends/codex/options.ts";
import type { CodexProgram } from "../../../src/backends/codex/program.ts";
import type { Backend, StartOrder } from "../../../src/backends/types.ts";
import { type Started, startBackend, user } from "../conformance.ts";
import { tempDir } from "../temp-dir.ts";

const FAKE = join(import.meta.dirname, "../../fakes/fake-codex-mcp.cjs");

export interface FakeCodex {
  cwd: string;
  program: CodexProgram;
  backend: Backend;
}

export function fakeCodex(env: Record<string, string> = {}, over: Partial<CodexProgram> = {}): FakeCodex {
  const home = tempDir("fake-codex-mcp");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const program: CodexProgram = {
    command: FAKE,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, CODEX_HOME: join(home, ".codex"), ...env },
    maxLineBytes: 16 * 1024 * 1024,
    ...over,
  };
  return { cwd, program, backend: backendOf(program) };
}

/** A started fake, stopped with the test. */
export async function startFake(
  options: Record<string, unknown> = {},
  over: Partial<StartOrder> & { codex?: FakeCodex } = {},
): Promise<Started> {
  const { codex = fakeCodex(), ...order } = over;
  const started = await startBackend(
    { backend: codex.backend, options: { cwd: codex.cwd, ...options } },
    order,
  );
  onTestFinished(() => started.run.stop("now"));
  return started;
}

/** One whole turn; its last message. */
export async function say({ run, sink }: Started, prompt: string): Promise<string> {
  const { length } = sink.results;
  await run.send(user(prompt));
  await sink.untilResults(length + 1);
  return sink.texts.at(-1) ?? "";
}

/** The legacy transport alone, as a backend. */
function backendOf(program: CodexProgram): Backend {
  return {
    name: "codex",
    options: CodexOptions,
    checkOptions: (block) => checkCodexOptions(block, { allowConfig: [], transport: "mcp-server" }),
    spawnOptions: () => ({}),
    detect: () => askVersion(program, "mcp-server"),
    start: (order, sink) => startMcpRun(program, order, sink),
  };
}
