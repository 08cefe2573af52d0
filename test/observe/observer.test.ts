// The observer as the daemon uses it: with its thread, a real file, restarts, and disks that refuse writes.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createMetrics, type Metrics } from "../../src/base/metrics.ts";
import { createObserver, type Observer, type ObserverOptions } from "../../src/observe/index.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import { rowOf } from "../sessions/fakes.ts";
import { type Bundle, bundleWorker } from "../store/worker-bundle.ts";
import { keptLog, tempDir } from "./material.ts";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleWorker("src/observe/worker.ts");
});
afterAll(() => bundle.remove());

interface World {
  observer: Observer;
  metrics: Metrics;
  log: ReturnType<typeof keptLog>;
  path: string;
}

function start(over: Partial<ObserverOptions> & { path?: string } = {}): World {
  const metrics = createMetrics();
  const log = keptLog();
  const path = over.path ?? join(tempDir(), "observability.db");
  const retention = { maxAgeMs: 0, maxToolRows: 0, maxTurnRows: 0 };
  const observer = createObserver({
    workerUrl: bundle.url,
    log: log.log,
    metrics,
    retention,
    ...over,
    path,
    times: { batchMs: 5, retryMs: 5, maxRetryMs: 20, ...over.times },
  });
  onTestFinished(() => observer.close());
  return { observer, metrics, log, path };
}

const session = (session_id: string): SessionRow => ({
  ...rowOf(session_id),
  backend: "claude",
  turn: { turn_id: "t1", started_at_ms: 1 },
});

function call(observer: Observer, session_id: string, id: string, command = `echo ${id}`): void {
  const row = session(session_id);
  const use = {
    type: "agent.tool_use",
    backend: "claude",
    tool_use_id: id,
    name: "Bash",
    input: { command },
  };
  observer.frame(row, use);
  observer.frame(row, {
    type: "agent.tool_result",
    backend: "claude",
    tool_use_id: id,
    output: "",
    is_error: false,
  });
}

const say = (observer: Observer, session_id: string, text: string) =>
  observer.frame(session(session_id), {
    type: "agent.message",
    backend: "claude",
    role: "assistant",
    content: [{ type: "text", text }],
  });

const texts = async (observer: Observer, session_id: string, limit = 10) =>
  (await observer.actions({ session_id, limit })).map((action) => action.summary_text);

describe("actions", () => {
  test("are available at once, before anything is written, newest first", async () => {
    const { observer } = start({ times: { batchMs: 60_000 } });
    call(observer, "s", "1");
    say(observer, "s", "done");
    expect(observer.lastAction("s")).toMatchObject({ summary_text: "ran `echo 1`", status: "success" });
    expect(await texts(observer, "s")).toEqual(["said: done", "ran `echo 1`"]);
  });

  test("are the same from the file, and continue after it", async () => {
    const { observer, metrics } = start();
    call(observer, "s", "1");
    await expect.poll(() => metrics.text()).toContain("blemees_observe_rows_total 2\n");
    call(observer, "s", "2");
    expect(await texts(observer, "s")).toEqual(["ran `echo 2`", "ran `echo 1`"]);
    expect(await observer.toolEvents({ session_id: "s", limit: 3 })).toMatchObject([
      { item_id: "2", event_type: "completed" },
      { item_id: "2", event_type: "started" },
      { item_id: "1", event_type: "completed" },
    ]);
  });

  test("from hundreds of rows are as many as requested", async () => {
    const { observer } = start();
    for (let n = 0; n < 400; n += 1) call(observer, n % 2 === 0 ? "even" : "odd", String(n));
    const expected = Array.from({ length: 150 }, (_, n) => `ran \`echo ${399 - 2 * n}\``);
    expect(await texts(observer, "odd", 150)).toEqual(expected);
    expect(await observer.actions({ limit: 7 })).toHaveLength(7);
  });

  test("survive a restart, including the last action of each session", async () => {
    const first = start();
    call(first.observer, "a", "1");
    say(first.observer, "b", "hello");
    first.observer.frame(rowOf("b"), {
      type: "agent.result",
      backend: "claude",
      subtype: "success",
      turn_id: "t1",
    });
    await first.observer.close();
    const { observer } = start({ path: first.path });
    expect(observer.lastAction("a")).toBeUndefined();
    // Both wait for the same read.
    await Promise.all([observer.warm(["a", "b", "nobody"]), observer.warm(["a"])]);
    expect(observer.lastAction("a")).toMatchObject({ summary_text: "ran `echo 1`" });
    expect(observer.lastAction("b")).toMatchObject({ action_kind: "message", summary_text: "said: hello" });
    expect(await texts(observer, "a")).toEqual(["ran `echo 1`"]);
  });

  test("new in memory are never overwritten by older ones from the file", async () => {
    const first = start();
    say(first.observer, "a", "old");
    await first.observer.close();
    const { observer } = start({ path: first.path });
    const reading = observer.warm(["a"]);
    say(observer, "a", "new");
    await reading;
    expect(observer.lastAction("a")).toMatchObject({ summary_text: "said: new" });
  });

  test("of a deleted session are gone, now and after a restart", async () => {
    const first = start();
    call(first.observer, "gone", "1");
    call(first.observer, "kept", "1");
    first.observer.forget("gone");
    expect(first.observer.lastAction("gone")).toBeUndefined();
    expect(await texts(first.observer, "gone")).toEqual([]);
    await first.observer.close();
    const { observer } = start({ path: first.path });
    expect(await texts(observer, "gone")).toEqual([]);
    expect(await texts(observer, "kept")).toHaveLength(1);
  });

  test("a call that was open when the daemon died is ended by the crash reported at the next start", async () => {
    const first = start();
    first.observer.frame(session("s"), {
      type: "agent.tool_use",
      backend: "claude",
      tool_use_id: "x",
      name: "Bash",
      input: { command: "make" },
    });
    await first.observer.close();
    const { observer } = start({ path: first.path });
    const error = { code: "backend_crashed", message: "the daemon stopped during this turn" };
    const row = rowOf("s");
    observer.frame(row, { type: "blemeesd.error", backend: "claude", ...error });
    observer.frame(row, { type: "agent.result", backend: "claude", subtype: "error", error, turn_id: "t1" });
    expect(await texts(observer, "s")).toEqual([
      "the turn failed: backend_crashed: the daemon stopped during this turn",
      "ran `make` (the agent died)",
    ]);
  });
});

describe("the thread", () => {
  test("is not started by frames that make no row, nor by a query without results", async () => {
    const { observer, metrics, path } = start();
    for (let n = 0; n < 100; n += 1) {
      observer.frame(session("s"), { type: "agent.delta", backend: "claude", kind: "text", text: "x" });
    }
    expect(await observer.actions({ limit: 5 })).toEqual([]);
    expect(observer.lastAction("s")).toBeUndefined();
    expect(metrics.text()).toContain("blemees_observe_thread_running 0\n");
    expect(existsSync(path)).toBe(false);
  });

  test("stops when idle, leaves one file, and is started again", async () => {
    const { observer, metrics, path } = start({ times: { idleMs: 5 } });
    call(observer, "s", "1");
    await expect.poll(() => metrics.text()).toContain("blemees_observe_rows_total 2\n");
    await expect.poll(() => metrics.text()).toContain("blemees_observe_thread_running 0\n");
    await expect.poll(() => readdirSync(join(path, ".."))).toEqual(["observability.db"]);
    call(observer, "s", "2");
    expect(await texts(observer, "s")).toEqual(["ran `echo 2`", "ran `echo 1`"]);
  });

  test("that dies in the middle of a batch is reported and replaced, and nothing is lost or written twice", async () => {
    const dir = tempDir();
    const marker = join(dir, "died");
    const dying = join(dir, "dying.mjs");
    writeFileSync(
      dying,
      `import { existsSync, writeFileSync } from "node:fs";
       import { parentPort } from "node:worker_threads";
       if (existsSync(${JSON.stringify(marker)})) await import(${JSON.stringify(bundle.url.href)});
       else parentPort.once("message", () => { writeFileSync(${JSON.stringify(marker)}, ""); process.exit(3); });`,
    );
    const { observer, log, metrics } = start({ workerUrl: pathToFileURL(dying) });
    call(observer, "s", "1");
    await expect.poll(() => metrics.text()).toContain("blemees_observe_rows_total 2\n");
    expect(log.of("observe.thread_died")).toMatchObject([
      { fields: { message: "the observe thread ended with code 3" } },
    ]);
    expect(log.of("observe.write_failed")).toHaveLength(1);
    expect(metrics.text()).toContain("blemees_observe_write_errors_total 1\n");
    expect(await observer.toolEvents({ session_id: "s", limit: 9 })).toHaveLength(2);
  });

  test("prunes some time after the start and reports how many rows and how long it took", async () => {
    const first = start();
    for (let n = 0; n < 5; n += 1) call(first.observer, "s", String(n));
    await first.observer.close();
    const retention = { maxAgeMs: 0, maxToolRows: 4, maxTurnRows: 0 };
    const { log, metrics } = start({ path: first.path, retention, times: { firstPruneMs: 1 } });
    await expect.poll(() => log.of("observe.pruned")).toHaveLength(1);
    expect(log.of("observe.pruned")[0]?.fields).toMatchObject({ tool_rows: 6, turn_rows: 0 });
    expect(metrics.text()).toContain('blemees_observe_pruned_rows_total{table="tool_events"} 6\n');
    expect(metrics.text()).toMatch(/blemees_observe_prune_seconds_total \d+\.\d+/);
  });

  test("reports a damaged file, and continues with a new one", async () => {
    const path = join(tempDir(), "observability.db");
    writeFileSync(path, "no database at all\n".repeat(200));
    const { observer, log } = start({ path });
    call(observer, "s", "1");
    expect(await texts(observer, "s")).toEqual(["ran `echo 1`"]);
    expect(log.of("observe.recovered")).toMatchObject([
      { fields: { aside: expect.stringContaining(".corrupt-") } },
    ]);
  });

  test("that hangs does not delay shutdown", async () => {
    const path = join(tempDir(), "deaf.mjs");
    writeFileSync(
      path,
      `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});`,
    );
    const { observer, log, metrics } = start({ workerUrl: pathToFileURL(path), times: { closeMs: 20 } });
    call(observer, "s", "1");
    await observer.close();
    expect(log.of("observe.rows_dropped")).toMatchObject([
      { fields: { rows: 2, why: "the daemon is stopping" } },
    ]);
    // Nor is it restarted: rows sent to the thread before it was terminated are not written by another one.
    await new Promise((resolve) => setImmediate(resolve));
    expect(metrics.text()).toContain("blemees_observe_rows_waiting 0\n");
    expect(metrics.text()).toContain("blemees_observe_thread_running 0\n");
  });
});

describe("a disk that refuses writes", () => {
  /** A file where the directory should be. */
  function blocked(): { path: string; free(): void } {
    const block = join(tempDir(), "state");
    writeFileSync(block, "");
    return { path: join(block, "observability.db"), free: () => rmSync(block) };
  }

  test("drops the oldest rows to stay within the memory limit, and the loss is counted and reported", async () => {
    const { path, free } = blocked();
    const { observer, log, metrics } = start({ path, maxWaiting: 100 });
    const rowsWaiting = () => Number(/blemees_observe_rows_waiting (\d+)/.exec(metrics.text())?.[1]);
    for (let n = 0; n < 500; n += 1) call(observer, "s", String(n));
    expect(rowsWaiting()).toBeLessThanOrEqual(100);
    await expect.poll(() => log.of("observe.write_failed")).toHaveLength(1);
    const waiting = rowsWaiting();
    expect(waiting).toBeLessThanOrEqual(100);
    const dropped = Number(/blemees_observe_rows_dropped_total (\d+)/.exec(metrics.text())?.[1]);
    expect(dropped + waiting).toBe(1000);
    expect(log.of("observe.rows_dropped").length).toBeGreaterThan(0);
    expect(observer.lastAction("s")).toMatchObject({ summary_text: "ran `echo 499`" });
    free();
    await expect.poll(() => metrics.text()).toContain(`blemees_observe_rows_total ${waiting}\n`);
    expect((await texts(observer, "s", 1))[0]).toBe("ran `echo 499`");
  });

  test("is reported once, until it can be read again", async () => {
    const path = join(tempDir(), "observability.db");
    mkdirSync(path);
    const { observer, log } = start({ path });
    for (let n = 0; n < 3; n += 1) {
      await observer.warm(["s"]);
      await texts(observer, "s");
    }
    expect(log.of("observe.read_failed")).toHaveLength(1);
    rmSync(path, { recursive: true });
    call(observer, "s", "1");
    await observer.warm(["s"]);
    expect(await texts(observer, "s")).toEqual(["ran `echo 1`"]);
    expect(log.of("observe.read_failed")).toHaveLength(1);
  });

  test("returns what is still in memory", async () => {
    const { path } = blocked();
    const { observer } = start({ path });
    call(observer, "s", "1");
    expect(await texts(observer, "s")).toEqual(["ran `echo 1`"]);
  });

  test("deletes pending sessions once it accepts rows again", async () => {
    const { path, free } = blocked();
    const { observer, log, metrics } = start({ path });
    call(observer, "gone", "1");
    await expect.poll(() => log.of("observe.write_failed")).toHaveLength(1);
    observer.forget("gone");
    call(observer, "kept", "1");
    free();
    await expect.poll(() => metrics.text()).toContain("blemees_observe_rows_waiting 0\n");
    expect(await observer.toolEvents({ limit: 9 })).toMatchObject([
      { session_id: "kept" },
      { session_id: "kept" },
    ]);
  });
});

describe("without a file", () => {
  test("the newest rows are kept in memory, and no thread is started", async () => {
    const metrics = createMetrics();
    const retention = { maxAgeMs: 0, maxToolRows: 0, maxTurnRows: 0 };
    const workerUrl = new URL("file:///nowhere.mjs");
    const observer = createObserver({ workerUrl, log: keptLog().log, metrics, retention });
    for (let n = 0; n < 4_000; n += 1) call(observer, "s", String(n));
    const kept = await observer.toolEvents({ limit: 100_000 });
    expect(kept.length).toBeLessThanOrEqual(5_000);
    expect(await texts(observer, "s", 2)).toEqual(["ran `echo 3999`", "ran `echo 3998`"]);
    expect(await texts(observer, "s", 1_000)).toHaveLength(1_000);
    observer.forget("s");
    expect(await observer.actions({ limit: 1 })).toEqual([]);
    await observer.close();
  });
});

test("no text of a row is longer than its column allows, whatever an agent sends", async () => {
  const { observer } = start();
  const long = "x".repeat(100_000);
  const row: SessionRow = {
    ...session("s"),
    native_session_id: long,
    turn: { turn_id: long, started_at_ms: 1 },
  };
  const frames = [
    { type: "agent.tool_use", tool_use_id: long, name: long, input: { command: long } },
    { type: "agent.tool_use", tool_use_id: "c", name: "Bash", input: { command: long, cwd: long } },
    { type: "agent.tool_result", tool_use_id: long, output: long, is_error: true },
    { type: "agent.result", subtype: long, turn_id: long, error: { code: long, message: long } },
  ];
  for (const frame of frames) observer.frame(row, { backend: "claude", ...frame });
  const tools = await observer.toolEvents({ session_id: "s", limit: 9 });
  const turns = await observer.turnEvents({ session_id: "s", limit: 9 });
  expect([tools.length, turns.length]).toEqual([3, 1]);
  for (const event of [...tools, ...turns]) {
    for (const [name, value] of Object.entries(event)) expect(String(value).length, name).toBeLessThan(2_200);
    expect([event.thread_id, event.turn_id].join("").length).toBeLessThan(500);
  }
  expect(tools.map(({ item_id }) => item_id?.length ?? 0).filter((length) => length > 230)).toEqual([]);
  expect(turns[0]?.error_code?.length).toBeLessThan(230);
  expect(observer.lastAction("s")?.turn_id?.length).toBeLessThan(230);
});

test("a frame that makes the reducer throw is counted and reported, and has no other effect", () => {
  const { observer, log, metrics } = start();
  const trap = new Proxy(
    { type: "agent.message" },
    {
      get: (target, key) => {
        if (key === "type") return target.type;
        throw new Error("trapped");
      },
    },
  );
  observer.frame(session("s"), trap);
  expect(observer.lastAction("s")).toBeUndefined();
  expect(log.of("observe.failed")).toMatchObject([{ fields: { session_id: "s", message: "trapped" } }]);
  expect(metrics.text()).toContain("blemees_observe_faults_total 1\n");
});

test("close can be called twice, writes pending rows, and later frames are ignored", async () => {
  const first = start({ times: { batchMs: 60_000 } });
  call(first.observer, "s", "1");
  await Promise.all([first.observer.close(), first.observer.close()]);
  call(first.observer, "s", "2");
  const { observer } = start({ path: first.path });
  expect(await texts(observer, "s")).toEqual(["ran `echo 1`"]);
});

test("a frame belongs to the turn that ran when it was published, and is part of every answer from then on", async () => {
  const { observer } = start();
  const row = session("s");
  observer.frame(row, { type: "agent.message", backend: "claude", content: [{ type: "text", text: "hi" }] });
  delete row.turn;
  expect(observer.lastAction("s")).toBeDefined();
  expect(await observer.turnEvents({ session_id: "s", limit: 5 })).toMatchObject([
    { event_type: "message", turn_id: "t1" },
  ]);
});
