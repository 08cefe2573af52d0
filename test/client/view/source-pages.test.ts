// A source where a real daemon is too fast or too small: many pages, and events between two reads.
import { afterEach, expect, test, vi } from "vitest";
import type { StreamItem, ViewPort } from "../../../src/client/view/port.ts";
import { openSource, type SourceOptions } from "../../../src/client/view/source.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView, findFirstSeq } from "../../../src/client/view.ts";
import { PATIENT } from "../../support/patience.ts";
import { anEvent, aView } from "../session-views.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A session with `count` stored events; the test feeds its stream. */
function session(stored: number, options: SourceOptions) {
  const world = { last_seq: stored };
  const live: StreamItem[] = [];
  const wakers = new Set<() => void>();
  async function* waiting<T>(signal: AbortSignal, items: T[]): AsyncGenerator<T, void> {
    while (!signal.aborted) {
      const item = items.shift();
      if (item !== undefined) yield item;
      else
        await new Promise<void>((resolve) => {
          wakers.add(resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
    }
  }
  const port = {
    session: async () => aView({ last_seq: world.last_seq }),
    requests: async () => ({ requests: [] }),
    queue: async () => ({ session_id: "s1", queued: [], recent: [] }),
    changes: (signal: AbortSignal) => waiting(signal, [{ kind: "reset" }]),
    events: async (_id: string, { since_seq, limit }: { since_seq: number; limit: number }) => {
      const end = Math.min(world.last_seq, since_seq + limit);
      const events = Array.from({ length: Math.max(0, end - since_seq) }, (_, at) =>
        anEvent(since_seq + 1 + at, { text: `${since_seq + 1 + at}`, category: "local" }),
      );
      const facts = { earliest_seq: 1, latest_seq: world.last_seq, history_gap: false, gap_reason: null };
      return { ...facts, events, next_seq: Math.max(end, since_seq) };
    },
    follow: (_id: string, { signal, onOpen }: { signal: AbortSignal; onOpen: () => void }) => {
      onOpen();
      return waiting(signal, live);
    },
  } as unknown as ViewPort;
  const inputs: ViewInput[] = [];
  const source = openSource(port, "s1", (batch) => inputs.push(...batch), options);
  closers.push(() => source.close());
  const seqs = (): (number | null)[] => {
    const from = inputs.findLastIndex(({ kind }) => kind === "reset");
    return inputs.slice(from + 1).flatMap((input) => (input.kind === "frame" ? [input.seq] : []));
  };
  const put = (item: StreamItem): void => {
    live.push(item);
    for (const wake of wakers) wake();
  };
  const give = (seq: number | null): void =>
    put({ kind: "frame", seq, frame: { type: "agent.notice", text: `${seq}` } });
  return { source, world, inputs, seqs, put, give };
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test("a history of several pages is read to its end, starting at the requested event", async () => {
  const { seqs } = session(3_500, { history: 2_500 });
  await vi.waitFor(() => expect(seqs()).toHaveLength(2_500), PATIENT);
  expect(seqs()).toEqual(range(1_001, 3_500));
});

test("an event that is stored while an earlier history is read, and on the stream after it, comes once", async () => {
  const { source, world, seqs, give } = session(10, { history: 3 });
  await vi.waitFor(() => expect(seqs()).toEqual([8, 9, 10]), PATIENT);
  world.last_seq = 11;
  expect(await source.loadEarlier()).toBe(true);
  await vi.waitFor(() => expect(seqs()).toEqual(range(5, 10)), PATIENT);
  give(11);
  await vi.waitFor(() => expect(seqs()).toEqual(range(5, 11)), PATIENT);
});

test("there is nothing earlier than the first event", async () => {
  const { source, seqs } = session(5, { history: 3 });
  await vi.waitFor(() => expect(seqs()).toHaveLength(3), PATIENT);
  expect(await source.loadEarlier()).toBe(true);
  await vi.waitFor(() => expect(seqs()).toEqual(range(1, 5)), PATIENT);
  expect(await source.loadEarlier()).toBe(false);
});

test("events that the view dropped while it followed are loaded again, from the view's current beginning", async () => {
  const { source, seqs } = session(5_000, { history: 5_000 });
  await vi.waitFor(() => expect(seqs()).toHaveLength(5_000), PATIENT);
  expect(await source.loadEarlier()).toBe(false);
  expect(await source.loadEarlier(4_001)).toBe(true);
  await vi.waitFor(() => expect(seqs()).toEqual(range(1, 5_000)), PATIENT);
});

test("each loadEarlier loads twice as much, so that the beginning of a long session is a few steps away", async () => {
  const { source, seqs } = session(20_000, { history: 2_000 });
  await vi.waitFor(() => expect(seqs()).toHaveLength(2_000), PATIENT);
  let steps = 0;
  while (await source.loadEarlier()) steps += 1;
  await vi.waitFor(() => expect(seqs()).toEqual(range(1, 20_000)), PATIENT);
  expect(steps).toBe(4);
});

test("scrolling up reaches the first event of a session that is longer than a view's limit", async () => {
  const { source, inputs } = session(12_000, { history: 2_000 });
  let view = emptyView();
  const seen = () => {
    view = applyInputs(view, inputs.splice(0));
    return view.entries;
  };
  await vi.waitFor(() => expect(seen()).toHaveLength(2_000), PATIENT);
  while (await source.loadEarlier(findFirstSeq(view)));
  await vi.waitFor(() => expect(seen()[0]).toMatchObject({ seq: 1 }), PATIENT);
  expect(view).toMatchObject({ dropped: 0, entries: { length: 12_000 } });
});

test("a line of our own and a frame that was never stored keep their places after a loadEarlier", async () => {
  const { source, world, inputs, seqs, give } = session(4, { history: 2 });
  await vi.waitFor(() => expect(seqs()).toEqual([3, 4]), PATIENT);
  source.addLine({ kind: "local", level: "info", text: "ours" });
  give(null);
  world.last_seq = 5;
  give(5);
  await vi.waitFor(() => expect(seqs()).toEqual([3, 4, null, 5]), PATIENT);
  inputs.length = 0;
  expect(await source.loadEarlier()).toBe(true);
  await vi.waitFor(() => expect(inputs.some(({ kind }) => kind === "reset")).toBe(true), PATIENT);
  const told = inputs.flatMap((input) =>
    input.kind === "frame" ? [`${input.seq}`] : input.kind === "local" ? [input.text] : [],
  );
  expect(told).toEqual(["1", "2", "3", "4", "ours", "null", "5"]);
});

test("frames that could not be stored after an event are reported once, however often the stream is opened again", async () => {
  const { inputs, seqs, put, give } = session(2, { history: 2 });
  const gap = { kind: "gap", data: { since_seq: 2, gap_reason: "persistence_error" } } as const;
  for (const _ of range(1, 3)) put(gap);
  give(3);
  put({ kind: "gap", data: { since_seq: 3, gap_reason: "persistence_error" } });
  give(4);
  await vi.waitFor(() => expect(seqs()).toEqual([1, 2, 3, 4]), PATIENT);
  expect(inputs.filter(({ kind }) => kind === "gap")).toHaveLength(2);
});
