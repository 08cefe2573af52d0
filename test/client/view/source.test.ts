// One session as inputs of its view, from the real daemon: everything once and in order, whatever happens to it.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { openSource, type SourceOptions } from "../../../src/client/view/source.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../src/client/view.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Shared by tests that keep it running. */
let daemon: TestDaemon;
let http: HttpClient;
beforeAll(async () => {
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(() => daemon.close());

function watch({ socket }: TestDaemon, session_id: string, options: SourceOptions = {}) {
  const batches: (readonly ViewInput[])[] = [];
  const port = new HttpClient({ socket }).withoutRetry();
  const source = openSource(port, session_id, (inputs) => batches.push(inputs), options);
  closers.push(() => source.close());
  const inputs = (): ViewInput[] => batches.flat();
  const last = <K extends ViewInput["kind"]>(kind: K) =>
    inputs().findLast((input): input is Extract<ViewInput, { kind: K }> => input.kind === kind);
  const closed = () => inputs().flatMap((input) => (input.kind === "closed" ? [input.data] : []));
  return { source, batches, inputs, last, closed, seqs: () => seqsOf(inputs()) };
}

function seqsOf(inputs: readonly ViewInput[]): (number | null)[] {
  const from = inputs.findLastIndex(({ kind }) => kind === "reset");
  return inputs.slice(from + 1).flatMap((input) => (input.kind === "frame" ? [input.seq] : []));
}

const upTo = (count: number, from = 1): number[] =>
  Array.from({ length: count - from + 1 }, (_, at) => at + from);

async function settled(prompt: string): Promise<string> {
  const { session } = await http.spawn({ backend: "demo", prompt, options: { pace_ms: 0 } });
  await http.wait(session.session_id);
  return session.session_id;
}

test("stored events come first, with their times, then live ones, each once and in order", async () => {
  const id = await settled("tool");
  const stored = (await http.session(id)).last_seq;
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  expect(seen.seqs()).toEqual(upTo(stored));
  expect(seen.inputs().every((input) => input.kind !== "frame" || (input.at_ms ?? 0) > 1e12)).toBe(true);
  await http.input(id, { text: "hello" });
  await http.wait(id);
  const end = (await http.session(id)).last_seq;
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(end)), PATIENT);
  expect(end).toBeGreaterThan(stored);
});

test("requests and the queue are reported at the start, and when they change", async () => {
  const id = await settled("approve");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("requests")?.requests).toHaveLength(1), PATIENT);
  await vi.waitFor(() => expect(seen.last("queue")?.queue).toEqual([]), PATIENT);
  expect(seen.last("session")?.session.activity_state).toBe("waiting_permission");
  const [request] = seen.last("requests")?.requests ?? [];
  await http.respond(id, request?.request_id ?? "", { decision: "decline" });
  await vi.waitFor(() => expect(seen.last("requests")?.requests).toEqual([]), PATIENT);
  await http.wait(id);
  await http.input(id, { text: "slow" });
  await http.input(id, { text: "after it" });
  await vi.waitFor(
    () => expect(seen.last("queue")?.queue.map(({ message }) => message.content)).toEqual(["after it"]),
    PATIENT,
  );
});

test("a daemon that is killed in the middle of a turn is reported as lost, and nothing comes twice or is missing", async () => {
  const mortal = await startDaemon();
  const client = new HttpClient({ socket: mortal.socket });
  const id = (await client.spawn({ backend: "demo", prompt: "slow" })).session.session_id;
  const seen = watch(mortal, id);
  await vi.waitFor(() => expect(seen.seqs().length).toBeGreaterThan(5), PATIENT);
  await mortal.kill("SIGKILL");
  await vi.waitFor(() => expect(seen.last("link")).toMatchObject({ state: "lost" }), PATIENT);
  expect(seen.last("link")?.message).toMatch(/daemon/);
  const again = await startDaemon({ home: mortal.home });
  closers.push(() => again.close());
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  await client.interrupt(id); // its agent goes on
  await client.input(id, { text: "hello again" });
  await client.wait(id);
  const { last_seq } = await client.session(id);
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq)), PATIENT);
  expect(seen.inputs().some(({ kind }) => kind === "reset")).toBe(false);
});

test("only the newest events are read at first; loadEarlier repeats everything after a reset, in one batch, and continues", async () => {
  const id = await settled("tool");
  const { last_seq } = await http.session(id);
  const seen = watch(daemon, id, { history: 3 });
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  expect(seen.seqs()).toEqual(upTo(last_seq, last_seq - 2));
  expect(await seen.source.loadEarlier()).toBe(true);
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq, last_seq - 5)), PATIENT);
  const [first, ...rest] = seen.batches.find((batch) => batch[0]?.kind === "reset") ?? [];
  expect(first).toEqual({ kind: "reset", up_to: last_seq });
  expect(new Set(rest.map(({ kind }) => kind))).toEqual(
    new Set(["link", "session", "requests", "queue", "frame"]),
  );
  while (await seen.source.loadEarlier());
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq)), PATIENT);
  await http.input(id, { text: "hello" });
  await http.wait(id);
  const end = (await http.session(id)).last_seq;
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(end)), PATIENT);
});

test("loadEarlier while the agent streams loses nothing and repeats nothing", async () => {
  const id = await settled("tool");
  await http.input(id, { text: "slow" });
  const seen = watch(daemon, id, { history: 2 });
  await vi.waitFor(() => expect(seen.seqs().length).toBeGreaterThan(3), PATIENT);
  await Promise.all([seen.source.loadEarlier(), seen.source.loadEarlier()]);
  while (await seen.source.loadEarlier());
  await http.interrupt(id);
  await http.wait(id);
  const { last_seq } = await http.session(id);
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq)), PATIENT);
});

test("a removed session is reported as closed, and so is an unknown one", async () => {
  const id = await settled("hello");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  await http.remove(id);
  await vi.waitFor(() => expect(seen.closed()).toMatchObject([{ reason: "deleted" }]), PATIENT);
  const never = watch(daemon, "never");
  await vi.waitFor(() => expect(never.closed()).toMatchObject([{ reason: "unknown" }]), PATIENT);
});

test("nothing is delivered after close, and no connection is left", async () => {
  const id = await settled("hello");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  await seen.source.close();
  const count = seen.batches.length;
  await http.input(id, { text: "hello" });
  await http.wait(id);
  expect(seen.batches).toHaveLength(count);
  await vi.waitFor(async () => expect(await http.status()).toMatchObject({ http: { streams: 0 } }), PATIENT);
});

test("a session can be read from an event that is far back, and nothing after it is dropped", async () => {
  const id = await settled("tool");
  const stored = (await http.session(id)).last_seq;
  const seen = watch(daemon, id, { history: 3, at_seq: 2 });
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(stored)), PATIENT);
  const view = applyInputs(emptyView(), seen.inputs(), { maxEntries: 1 });
  expect(view.dropped).toBe(0);
  expect(view.session?.session_id).toBe(id);
  const late = watch(daemon, id, { history: 3, at_seq: stored });
  await vi.waitFor(() => expect(late.last("link")?.state).toBe("live"), PATIENT);
  expect(late.seqs().at(-1)).toBe(stored);
});
