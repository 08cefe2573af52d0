// The index follows the history: as the observer runs it, with its thread and a real file.
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createObserver, type History, type Observer, parseQuery } from "../../../src/observe/index.ts";
import type { HistoryRow } from "../../../src/observe/search/types.ts";
import { SEARCH_ROLES } from "../../../src/protocol/search.ts";
import { rowOf } from "../../sessions/fakes.ts";
import { type Bundle, bundleWorker } from "../../store/worker-bundle.ts";
import { PATIENT } from "../../support/patience.ts";
import { keptLog, tempDir } from "../material.ts";
import { dump, NOON_MS, openSearch, output, toPart, user } from "./material.ts";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleWorker("src/observe/worker.ts");
});
afterAll(() => bundle.remove());

/** A history in memory, of sessions by id. */
class FakeHistory implements History {
  readonly sessions = new Map<string, { first_seq: number; frames: object[] }>();
  readonly reads: string[] = [];
  /** Awaited before each read. */
  gate: Promise<void> = Promise.resolve();
  fault: Error | undefined;

  add(session_id: string, ...frames: object[]): void {
    const session = this.sessions.get(session_id) ?? { first_seq: 1, frames: [] };
    this.sessions.set(session_id, session);
    session.frames.push(...frames);
  }

  prune(session_id: string, count: number): void {
    const session = this.sessions.get(session_id);
    if (session === undefined) return;
    session.first_seq += session.frames.splice(0, count).length;
  }

  async read(session_id: string, after_seq: number, max_bytes: number) {
    this.reads.push(session_id);
    const session = this.sessions.get(session_id);
    const from = session === undefined ? 0 : Math.max(session.first_seq, after_seq + 1);
    // A few at once, whatever fits.
    const frames = session?.frames.slice(from - session.first_seq).slice(0, Math.min(3, max_bytes));
    await this.gate;
    if (this.fault !== undefined) throw this.fault;
    if (frames === undefined || frames.length === 0) return undefined;
    const { session_id: _, ...part } = toPart(session_id, frames, { first_seq: from });
    return part;
  }

  earliest(session_id: string) {
    const session = this.sessions.get(session_id);
    return Promise.resolve(session?.frames.length === 0 ? undefined : session?.first_seq);
  }

  async rows({ limit, after }: { limit: number; after?: HistoryRow }) {
    const rows = [...this.sessions].map(([session_id, { first_seq, frames }]) => ({
      session_id,
      ...{
        last_seq: first_seq + frames.length - 1,
        last_active_at_ms: 1,
        started_at_ms: 1,
        backend: "fake",
        cwd: "/w",
      },
    }));
    const start = after === undefined ? 0 : rows.findIndex((row) => row.session_id === after.session_id) + 1;
    return rows.slice(start, start + limit);
  }
}

function start(history: History, path = join(tempDir(), "observability.db"), sweepMs = 1): Observer {
  const observer = createObserver({
    ...{ workerUrl: bundle.url, log: keptLog().log, metrics: createMetrics(), path, history },
    retention: { maxAgeMs: 0, maxToolRows: 0, maxTurnRows: 0 },
    times: { settleMs: 1, sweepMs, retryMs: 5 },
  });
  onTestFinished(() => observer.close());
  return observer;
}

async function find(observer: Observer, text: string): Promise<{ found: string[]; unindexed: number }> {
  const last = Number.MAX_SAFE_INTEGER;
  const place = { now: NOON_MS / 3_600_000, before: { user: last, agent: last, tool: last } };
  const order = { terms: parseQuery(text), roles: SEARCH_ROLES, limit: 100, place };
  const reply = await observer.findTexts?.(order);
  return {
    found: reply?.found.map(({ session_id, seq }) => `${session_id} ${seq}`).sort() ?? [],
    unindexed: reply?.unindexed ?? 0,
  };
}

const finds = (observer: Observer, text: string, found: string[]) =>
  vi.waitFor(async () => expect(await find(observer, text)).toEqual({ found, unindexed: 0 }), PATIENT);

test("what is published is found", async () => {
  const history = new FakeHistory();
  const observer = start(history);
  history.add("a", user("tokens"));
  observer.frame(rowOf("a"), user("tokens"));
  await finds(observer, "tokens", ["a 1"]);
  history.add("a", output("tokens"));
  observer.frame(rowOf("a"), output("tokens"));
  await finds(observer, "tokens", ["a 1", "a 2"]);
});

test("the history of an earlier version is indexed, in steps", async () => {
  const history = new FakeHistory();
  for (let at = 0; at < 5; at += 1) history.add(`s${at}`, ...Array.from({ length: 8 }, () => user("tokens")));
  const observer = start(history);
  await vi.waitFor(async () => expect((await find(observer, "tokens")).found).toHaveLength(40), PATIENT);
  expect(history.reads.length).toBeGreaterThan(15);
});

test("the next daemon continues where the last one stopped", async () => {
  const history = new FakeHistory();
  const path = join(tempDir(), "observability.db");
  history.add("a", user("tokens"));
  const first = start(history, path);
  await finds(first, "tokens", ["a 1"]);
  await first.close();
  history.add("a", user("tokens"));
  history.add("b", user("tokens"));
  await finds(start(history, path), "tokens", ["a 1", "a 2", "b 1"]);
});

test("a session that is deleted while it is being read is not indexed", async () => {
  const history = new FakeHistory();
  let release: () => void = () => undefined;
  history.gate = new Promise((resolve) => {
    release = resolve;
  });
  const observer = start(history);
  history.add("gone", user("tokens"));
  observer.frame(rowOf("gone"), user("tokens"));
  await vi.waitFor(() => expect(history.reads).toEqual(["gone"]), PATIENT);
  history.sessions.delete("gone");
  observer.forget("gone");
  release();
  history.add("a", user("tokens"));
  observer.frame(rowOf("a"), user("tokens"));
  await finds(observer, "tokens", ["a 1"]);
});

test("what was deleted or pruned while no daemon ran is not found", async () => {
  const history = new FakeHistory();
  const path = join(tempDir(), "observability.db");
  history.add("gone", user("tokens"));
  history.add("a", user("tokens"), user("tokens"), user("tokens"));
  const first = start(history, path);
  await finds(first, "tokens", ["a 1", "a 2", "a 3", "gone 1"]);
  await first.close();
  history.sessions.delete("gone");
  history.prune("a", 2);
  await finds(start(history, path), "tokens", ["a 3"]);
});

test("what retention removes is removed from the index", async () => {
  const history = new FakeHistory();
  history.add("a", user("tokens"), user("tokens"));
  const observer = start(history);
  await finds(observer, "tokens", ["a 1", "a 2"]);
  history.prune("a", 1);
  observer.historyPruned();
  await finds(observer, "tokens", ["a 2"]);
});

test("a deleted session leaves no term in the file", async () => {
  const history = new FakeHistory();
  const path = join(tempDir(), "observability.db");
  history.add("gone", user("xylophonesecret"));
  history.add("a", user("tokens"));
  const observer = start(history, path);
  await finds(observer, "xylophonesecret", ["gone 1"]);
  history.sessions.delete("gone");
  observer.forget("gone");
  await finds(observer, "xylophonesecret", []);
  await observer.close();
  // Tidying up may have been cut short: the next daemon finishes it.
  const search = await openSearch(join(path, "../search.db"));
  while (search.tidy());
  search.close();
  expect((await dump(join(path, "../search.db"))).terms).toEqual(["tokens"]);
});

test("a history that cannot be read is read again", async () => {
  const history = new FakeHistory();
  history.fault = new Error("disk on fire");
  history.add("a", user("tokens"));
  const observer = start(history);
  await vi.waitFor(() => expect(history.reads.length).toBeGreaterThan(1), PATIENT);
  history.fault = undefined;
  await finds(observer, "tokens", ["a 1"]);
});

test("an earlier copy of the history replaces what was indexed of the later one", async () => {
  const history = new FakeHistory();
  const path = join(tempDir(), "observability.db");
  history.add("a", user("tokens"), user("later tokens"));
  const first = start(history, path);
  await finds(first, "tokens", ["a 1", "a 2"]);
  await first.close();
  history.sessions.get("a")?.frames.pop();
  await finds(start(history, path), "tokens", ["a 1"]);
});

test("without any history no file is made", async () => {
  const path = join(tempDir(), "observability.db");
  const history = new FakeHistory();
  const observer = start(history, path);
  const rows = vi.spyOn(history, "rows");
  await vi.waitFor(() => expect(rows).toHaveBeenCalled(), PATIENT);
  await observer.close();
  const { existsSync } = await import("node:fs");
  expect(existsSync(join(path, "../search.db"))).toBe(false);
});
