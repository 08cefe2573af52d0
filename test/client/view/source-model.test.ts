// A source against a model of the daemon, in random order: whatever happens, each event is delivered once and in order.
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openSource } from "../../../src/client/view/source.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { ModelDaemon } from "./model-daemon.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What was delivered since the last `reset`, and in total. */
function listen(history: number) {
  const daemon = new ModelDaemon();
  let inputs: ViewInput[] = [];
  const source = openSource(
    daemon.port,
    "s1",
    (batch) => {
      const from = batch.findLastIndex(({ kind }) => kind === "reset");
      inputs = from === -1 ? [...inputs, ...batch] : [...batch.slice(from)];
    },
    { history, backoff: { initialMs: 10, maxMs: 20 } },
  );
  return { daemon, source, inputs: () => inputs };
}

type Listening = ReturnType<typeof listen>;

const STEPS = {
  publish: ({ daemon }: Listening) => daemon.publish(),
  unstored: ({ daemon }: Listening, at: number) => daemon.publishUnstored(`unstored ${at}`),
  reply: ({ daemon }: Listening, at: number) => daemon.letGo(at),
  cut: ({ daemon }: Listening) => daemon.cutStreams(),
  kill: ({ daemon }: Listening) => daemon.kill(),
  start: ({ daemon }: Listening) => daemon.start(),
  prune: ({ daemon }: Listening, at: number) => daemon.prune(at % 5),
  behind: ({ daemon }: Listening) => daemon.sayBehind(),
  // A daemon that goes away meanwhile is reported by the rejection.
  earlier: ({ source }: Listening) => void source.loadEarlier().catch(() => undefined),
  tick: () => vi.advanceTimersByTimeAsync(20),
};

const steps = (names: readonly (keyof typeof STEPS)[]) =>
  fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(50)), { maxLength: 60 });
const HARMLESS = ["publish", "publish", "reply", "reply", "reply", "tick", "tick", "cut", "earlier"] as const;

async function settled({ daemon }: Listening): Promise<void> {
  daemon.start();
  let quiet = 0;
  while (quiet < 5) {
    quiet = daemon.isWaitedFor ? 0 : quiet + 1;
    daemon.letGo(0);
    await vi.advanceTimersByTimeAsync(25);
  }
}

async function run(listening: Listening, order: readonly (readonly [keyof typeof STEPS, number])[]) {
  for (const [name, at] of order) await STEPS[name](listening, at);
  await settled(listening);
}

const seqsOf = (inputs: readonly ViewInput[]): number[] =>
  inputs.flatMap((input) => (input.kind === "frame" && input.seq !== null ? [input.seq] : []));
const textsOf = (inputs: readonly ViewInput[]): string[] =>
  inputs.flatMap((input) => (input.kind === "frame" ? [String(input.frame["text"])] : []));

test("each event is delivered once and in order, for any order of pages, cuts, restarts and loadEarlier", async () => {
  await fc.assert(
    fc.asyncProperty(
      steps([...HARMLESS, "kill", "start", "behind"]),
      fc.integer({ min: 1, max: 9 }),
      async (order, history) => {
        const listening = listen(history);
        await run(listening, order);
        const seqs = seqsOf(listening.inputs());
        const first = seqs[0] ?? 1;
        expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, at) => first + at));
        expect(seqs.at(-1) ?? 0).toBe(listening.daemon.last_seq);
        expect(listening.inputs().some(({ kind }) => kind === "gap")).toBe(false);
        await listening.source.close();
      },
    ),
    { numRuns: 120 },
  );
});

test("what retention deletes is reported as a gap in its place, and nothing else is missing", async () => {
  await fc.assert(
    fc.asyncProperty(steps([...HARMLESS, "kill", "start", "prune"]), async (order) => {
      const listening = listen(4);
      await run(listening, order);
      let last: number | undefined;
      for (const input of listening.inputs()) {
        if (input.kind === "gap") last = Number(input.data["first_available_seq"]) - 1;
        if (input.kind !== "frame" || input.seq === null) continue;
        expect(input.seq).toBe((last ?? input.seq - 1) + 1);
        last = input.seq;
      }
      expect(last ?? 0).toBe(listening.daemon.last_seq);
      await listening.source.close();
    }),
    { numRuns: 120 },
  );
});

test("all of it can be loaded: the first event is reached, whatever happened before", async () => {
  await fc.assert(
    fc.asyncProperty(steps([...HARMLESS, "kill", "start", "unstored"]), async (order) => {
      const listening = listen(2);
      await run(listening, order);
      for (let isMore = true; isMore; ) {
        const loaded = listening.source.loadEarlier();
        await settled(listening);
        isMore = await loaded;
      }
      const { daemon } = listening;
      expect(seqsOf(listening.inputs())).toEqual(Array.from({ length: daemon.last_seq }, (_, at) => at + 1));
      const unstored = textsOf(listening.inputs()).filter((text) => text.startsWith("unstored"));
      expect(unstored).toEqual(daemon.unstored);
      await listening.source.close();
    }),
    { numRuns: 80 },
  );
});

test("a daemon that lost its newest events replaces the history", async () => {
  await fc.assert(
    fc.asyncProperty(steps(HARMLESS), steps(HARMLESS), fc.integer({ min: 1, max: 9 }), async (a, b, back) => {
      const listening = listen(50);
      const { daemon } = listening;
      await run(listening, a);
      daemon.kill();
      daemon.start(back);
      await settled(listening);
      await run(listening, b);
      const stored = [...daemon.log.keys()].map((seq) => daemon.frameOf(seq).text);
      expect(textsOf(listening.inputs())).toEqual(stored);
      await listening.source.close();
    }),
    { numRuns: 60 },
  );
});

test("nothing is delivered after the end of a removed session, whenever it comes", async () => {
  await fc.assert(
    fc.asyncProperty(steps(HARMLESS), steps(HARMLESS), async (before, after) => {
      const listening = listen(5);
      for (const [name, at] of before) await STEPS[name](listening, at);
      listening.daemon.remove();
      await run(listening, after);
      const kinds = listening.inputs().map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "closed")).toHaveLength(1);
      expect(kinds.slice(kinds.indexOf("closed") + 1)).not.toContain("frame");
      await listening.source.close();
    }),
    { numRuns: 60 },
  );
});
