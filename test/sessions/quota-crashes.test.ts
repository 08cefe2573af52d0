// Daemons that are killed at random moments while sessions reach a limit, wait and continue. `npm run chaos` kills 100.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { size } from "../support/sizes.ts";
import { type FakeRun, FakeStore, settle } from "./fakes.ts";
import { runOf, spawn, type World, world } from "./system.ts";

const KILLS = size("QUOTA_KILLS", 12);
const SESSIONS = ["a", "b", "c"];
const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5, 12);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Seeded, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The model's service: refuses everything before a time, and knows what it was asked. */
class Service {
  resets_at_ms = START + 10 * MINUTE;
  /** Turns that it served or that were cut, by session. */
  readonly served = new Map<string, number>();
  readonly tooEarly: string[] = [];
  /** Sessions whose message was refused. */
  readonly refused = new Set<string>();
  readonly #answered = new Map<FakeRun, number>();

  /** Answers the messages that agents have got since. `isLate`: some are still at work. */
  serve(on: World, isLate: () => boolean): void {
    for (const run of on.backend.alive) {
      const answered = this.#answered.get(run) ?? 0;
      if (run.sent.length === answered || isLate()) continue;
      this.#answered.set(run, answered + 1);
      const now = Date.now();
      const id = run.order.session_id;
      const wasRefused = this.refused.has(id);
      if (now < this.resets_at_ms) {
        if (wasRefused) this.tooEarly.push(id);
        this.refused.add(id);
        const data = {
          limit: { window: "5h", resets_at_ms: this.resets_at_ms, status: "rejected" },
        };
        run.event({ type: "agent.notice", level: "warn", category: "rate_limits", data });
        run.event({
          type: "agent.result",
          subtype: "error",
          num_turns: 1,
          error: { code: "rate_limited", message: "the limit is reached" },
        });
      } else {
        this.served.set(id, (this.served.get(id) ?? 0) + 1);
        run.result();
      }
    }
  }

  /** The daemon and its agents are gone: a message that an agent had is not delivered again. */
  cut(on: World): void {
    for (const run of on.backend.alive) {
      const open = run.sent.length - (this.#answered.get(run) ?? 0);
      const id = run.order.session_id;
      if (open > 0) this.served.set(id, (this.served.get(id) ?? 0) + open);
    }
  }
}

/** What is on the disk of a daemon that is killed now. */
function copyDisk({ log, saved, ledger }: FakeStore): FakeStore {
  const store = new FakeStore();
  store.log.push(...log);
  for (const [id, row] of saved) store.saved.set(id, structuredClone(row));
  for (const [id, row] of ledger) store.ledger.set(id, structuredClone(row));
  return store;
}

const start = (store?: FakeStore) =>
  world({
    quota: { onLimit: "wait", maxWaitMs: 24 * 60 * MINUTE },
    ...(store === undefined ? {} : { store }),
  });

test(`after ${KILLS} kills, each message has had one turn that was not refused, and none before the reset`, async () => {
  let kills = 0;
  for (let seed = 1; kills < KILLS; seed += 1) {
    const random = createRandom(seed);
    const service = new Service();
    let on = await start();
    for (const id of SESSIONS) await spawn(on, id);
    for (let step = 0; step < 60; step += 1) {
      await settle(1 + random(3));
      service.serve(on, () => random(3) === 0);
      await vi.advanceTimersByTimeAsync(random(2) === 0 ? 0 : random(40_000));
      if (random(12) > 0) continue;
      kills += 1;
      service.cut(on);
      const disk = copyDisk(on.store);
      on.hub.table.isAbandoned = true;
      await on.quiet();
      on = await start(disk);
    }
    for (let round = 0; round < 40; round += 1) {
      await vi.advanceTimersByTimeAsync(MINUTE);
      await settle(6);
      service.serve(on, () => false);
      await settle(6);
    }
    const about = `seed ${seed}`;
    expect(service.tooEarly, about).toEqual([]);
    for (const id of SESSIONS) {
      expect(service.served.get(id), `${about}, session ${id}`).toBe(1);
      const { queued, recent } = await on.manager.queue(id);
      expect(queued, about).toEqual([]);
      expect(
        recent.map(({ state }) => state),
        about,
      ).toEqual(["done"]);
    }
    await on.quiet();
  }
}, 300_000);

test("the agent of a session that waits is not given anything by a daemon that restarts", async () => {
  const on = await start();
  await spawn(on, "a");
  await settle();
  const service = new Service();
  service.serve(on, () => false);
  await settle(8);
  const next = await start(copyDisk(on.store));
  await settle(8);
  expect(next.backend.runs).toEqual([]);
  expect(() => runOf(next, "a")).toThrow("no agent");
});
