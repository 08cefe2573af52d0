// The whole sessions layer with its dependencies faked: what the daemon creates, without a daemon.
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { noObserver } from "../../src/observe/none.ts";
import { createSessions, type Sessions, type SystemOptions } from "../../src/sessions/system.ts";
import { atEndOfTest, FakeBackend, type FakeRun, FakeStore, settle, user } from "./fakes.ts";

export interface World extends Sessions {
  store: FakeStore;
  backend: FakeBackend;
}

export async function world(over: Partial<SystemOptions> & { store?: FakeStore } = {}): Promise<World> {
  const store = over.store ?? new FakeStore();
  const backend = new FakeBackend();
  const sessions = createSessions({
    backends: [backend],
    log: silentLog,
    observer: noObserver,
    metrics: createMetrics(),
    limits: { maxSessions: 64, maxSessionsPerClient: 32 },
    ringSize: 1024,
    stderrRate: { lines: 50, windowMs: 10_000 },
    env: {},
    expiryMs: 0,
    family: { limits: { maxChildren: 32, maxDepth: 6, maxSize: 256 }, stallMs: 0, retryMs: 5 },
    notify: { allowUrls: [], on: [], children: false, remindMs: 0, env: {}, identity: {}, userAgent: "test" },
    ...over,
    store,
  });
  atEndOfTest(() => {
    for (const { stream } of sessions.hub.sessions) stream.close();
  });
  await sessions.hub.table.ready;
  await settle();
  return { ...sessions, store, backend };
}

export const spawn = (on: World, session_id: string, more: object = {}) =>
  on.manager.spawn({ backend: "fake", session_id, message: user(`do ${session_id}`), ...more });

/** The newest agent of a session. */
export function runOf(on: World, session_id: string): FakeRun {
  const run = on.backend.runs.findLast(({ order }) => order.session_id === session_id);
  if (run === undefined) throw new Error(`no agent for ${session_id}`);
  return run;
}

/** The messages it received. */
export const textsOf = (run: { sent: unknown[] }) =>
  run.sent.map((message) => (message as { content: string }).content);
