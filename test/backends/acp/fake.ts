// The fake ACP agent (test/fakes/fake-acp.cjs) under the real backend, in its own home.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createAcpBackend } from "../../../src/backends/acp/index.ts";
import type { AcpHost, AcpSpec } from "../../../src/backends/acp/spec.ts";
import type { Backend, StartOrder } from "../../../src/backends/types.ts";
import { type Started, startBackend, user } from "../conformance.ts";
import { tempDir } from "../temp-dir.ts";

export const FAKE_ACP = join(import.meta.dirname, "../../fakes/fake-acp.cjs");
/** So that an agent that does not obey costs no seconds. */
export const QUICK = { cancelMs: 300, closeMs: 300, finishMs: 300, graceMs: 300, quietMs: 50 };

export interface FakeHome {
  home: string;
  cwd: string;
}

export function fakeHome(): FakeHome {
  const home = tempDir("fake-acp");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  return { home, cwd };
}

/** The fake's capabilities and misbehaviour: FAKE_ACP. */
export type Setup = Record<string, unknown>;

export function fakeParts(home: FakeHome, setup: Setup = {}): { spec: AcpSpec; host: AcpHost } {
  const env = { FAKE_ACP: JSON.stringify(setup), FAKE_ACP_HOME: home.home };
  return {
    spec: { name: "fake", command: FAKE_ACP, env, stallMs: 0 },
    host: { env: { PATH: process.env["PATH"] }, limits: QUICK, lingerMs: 0 },
  };
}

export interface FakeAgent {
  backend: Backend;
  home: FakeHome;
  start(options?: Record<string, unknown>, over?: Partial<StartOrder>): Promise<Started>;
  /** What it received, if `record` is set. */
  heard(): Array<{ id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown }>;
  pids(): number[];
}

/** A new backend, closed with the test. */
export function fakeAgent(
  setup: Setup = {},
  over: { spec?: Partial<AcpSpec>; host?: Partial<AcpHost>; home?: FakeHome } = {},
): FakeAgent {
  const home = over.home ?? fakeHome();
  const parts = fakeParts(home, { record: true, ...setup });
  const backend = createAcpBackend({ ...parts.spec, ...over.spec }, { ...parts.host, ...over.host });
  onTestFinished(() => backend.close?.());
  const linesOf = (file: string): string[] => {
    const path = join(home.home, file);
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  };
  return {
    backend,
    home,
    heard: () => linesOf("heard").map((line) => JSON.parse(line)),
    pids: () => linesOf("starts").map(Number),
    start: async (options = {}, order = {}) => {
      const started = await startBackend({ backend, options: { cwd: home.cwd, ...options } }, order);
      onTestFinished(() => started.run.stop("now"));
      return started;
    },
  };
}

/** Sends and waits for the result; returns the last message. */
export async function say({ run, sink }: Started, text: string): Promise<string | undefined> {
  const { length } = sink.results;
  await run.send(user(text));
  await sink.untilResults(length + 1);
  return sink.texts.at(-1);
}

export function noticesOf({ sink }: Started, category: string) {
  return sink.events.flatMap((event) =>
    event.type === "agent.notice" && event.category === category ? [event] : [],
  );
}
