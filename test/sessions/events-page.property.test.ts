// Whatever the disk does, in any order: a reader with any cursor gets every event ever shown after it, or a gap notice;
// never an event that was not shown, and never one twice.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventsPage } from "../../src/protocol/views.ts";
import { NO_LIMITS } from "../store/material.ts";
import { seedCount } from "../store/random.ts";
import type { Heard } from "./fakes.ts";
import { History, type Kind } from "./history.ts";

type Step =
  | { kind: "say"; count: number }
  | { kind: "disk"; fails: boolean }
  | { kind: "prune"; keep: number }
  | { kind: "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("say" as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("disk" as const), fails: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("prune" as const), keep: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

async function carryOut(history: History, { kind, ...how }: Step, texts: () => string[]): Promise<History> {
  if (kind === "say") await history.say(...texts().slice(0, (how as { count: number }).count));
  else if (kind === "disk") history.failing = (how as { fails: boolean }).fails;
  else if (kind === "prune") {
    await history.store.prune({ ...NO_LIMITS, maxRowsPerSession: (how as { keep: number }).keep });
  } else {
    // A daemon that dies while its disk refuses writes cannot record the loss; one that is asked to stop waits.
    history.failing = false;
    return history.restart();
  }
  return history;
}

/** Compares what a reader with this cursor gets with everything ever shown. */
function check(cursor: number, pages: EventsPage[], shown: readonly Heard[]): void {
  const got = pages.flatMap(({ events }) => events.map(({ frame }) => frame));
  const seqs = got.map((frame) => frame["seq"] as number);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  const bySeq = new Map(shown.map((frame) => [frame["seq"], frame]));
  for (const frame of got) expect(frame).toEqual(bySeq.get(frame["seq"]));
  const from = cursor === 0 ? 0 : shown.findIndex((frame) => frame["seq"] === cursor) + 1;
  const had = new Set(got.map((frame) => frame["seq"]));
  const isMissing = shown.slice(from).some((frame) => !had.has(frame["seq"]));
  const isTold = pages.some(({ history_gap }) => history_gap);
  expect({ cursor, isTold }).toEqual({ cursor, isTold: isMissing });
  for (const { history_gap, gap_reason } of pages) expect(gap_reason !== null).toBe(history_gap);
}

test.each(["sqlite", "memory"] as const)(
  "%s: nothing is lost or invented silently",
  async (kind: Kind) => {
    const steps = fc.array(kind === "memory" ? step.filter((one) => one.kind !== "restart") : step, {
      maxLength: 25,
    });
    const property = fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 7 }),
      async (all, ringSize, limit) => {
        let history = await History.open(kind, { ringSize });
        const shown: Heard[] = [];
        let said = 0;
        const texts = () => {
          said += 5;
          return Array.from({ length: 5 }, (_, index) => `text ${said + index}`);
        };
        for (const one of all) {
          const last = history;
          history = await carryOut(history, one, texts);
          if (history !== last) shown.push(...last.ear.heard);
        }
        const everything = [...shown, ...history.ear.heard];
        for (let cursor = 0; cursor <= history.stream.last_seq; cursor += 1) {
          check(cursor, await history.readAll(cursor, limit), everything);
        }
        await history.store.close();
      },
    );
    await fc.assert(property, { numRuns: seedCount(25) });
  },
  120_000,
);

test("a reader that follows while events are stored and lost sees each stored one once, in order", async () => {
  const history = await History.open("sqlite", { ringSize: 4 });
  const abort = new AbortController();
  const seen: unknown[] = [];
  const following = (async () => {
    for (let cursor = 0; !abort.signal.aborted; ) {
      const page = await history.read(cursor, { limit: 3, waitMs: 60_000, signal: abort.signal });
      seen.push(...page.events.map(({ seq }) => seq));
      cursor = page.next_seq;
      if (cursor === 300) return;
    }
  })();
  for (let n = 0; history.stream.last_seq < 300; n += 1) {
    history.failing = n % 11 === 5;
    const room = 300 - history.stream.last_seq;
    await history.say(...["a", "b", "c"].slice(0, Math.max(1, Math.min(3, room - 1))));
  }
  const enough = setTimeout(() => abort.abort(), 10_000);
  await following;
  clearTimeout(enough);
  expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
});
