// One session as inputs of its view, from the real daemon: everything once and in order, whatever happens to it.
import { afterEach, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { openSource, type SourceOptions } from "../../../src/client/view/source.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";

const PATIENT = { timeout: 15_000, interval: 10 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function daemonOf(home?: string): Promise<TestDaemon> {
  const daemon = await startDaemon(home === undefined ? {} : { home });
  closers.push(() => daemon.close());
  return daemon;
}

function watch(daemon: TestDaemon, session_id: string, options: SourceOptions = {}) {
  const batches: (readonly ViewInput[])[] = [];
  const http = new HttpClient({ socket: daemon.socket });
  const source = openSource(http.withoutRetry(), session_id, (inputs) => batches.push(inputs), options);
  closers.push(() => source.close());
  const inputs = (): ViewInput[] => batches.flat();
  const last = <K extends ViewInput["kind"]>(kind: K) =>
    inputs().findLast((input): input is Extract<ViewInput, { kind: K }> => input.kind === kind);
  return { source, http, batches, inputs, last, seqs: () => seqsOf(inputs()) };
}

function seqsOf(inputs: readonly ViewInput[]): (number | null)[] {
  const from = inputs.findLastIndex(({ kind }) => kind === "reset");
  return inputs.slice(from + 1).flatMap((input) => (input.kind === "frame" ? [input.seq] : []));
}

const upTo = (count: number, from = 1): number[] =>
  Array.from({ length: count - from + 1 }, (_, at) => at + from);

async function settled(http: HttpClient, prompt: string): Promise<string> {
  const { session } = await http.spawn({ backend: "demo", prompt });
  await http.wait(session.session_id);
  return session.session_id;
}

test("what was stored comes first, with its times, then what happens, each once and in order", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "tool");
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

test("requests and the queue are told at the start, and when they change", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "approve");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("requests")?.requests).toHaveLength(1), PATIENT);
  expect(seen.last("session")?.session.activity_state).toBe("waiting_permission");
  expect(seen.last("queue")?.queue).toEqual([]);
  const [request] = seen.last("requests")?.requests ?? [];
  await http.respond(id, request?.request_id ?? "", { decision: "decline" });
  await vi.waitFor(() => expect(seen.last("requests")?.requests).toEqual([]), PATIENT);
  await http.wait(id);
  await http.input(id, { text: "slow" });
  await http.input(id, { text: "behind it" });
  await vi.waitFor(
    () => expect(seen.last("queue")?.queue.map(({ message }) => message.content)).toEqual(["behind it"]),
    PATIENT,
  );
});

test("a daemon that is killed in the middle of a turn is told as lost, and nothing comes twice or is missing", async () => {
  const daemon = await daemonOf();
  const { home } = daemon;
  const id = (await new HttpClient({ socket: daemon.socket }).spawn({ backend: "demo", prompt: "slow" }))
    .session.session_id;
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.seqs().length).toBeGreaterThan(5), PATIENT);
  await daemon.kill("SIGKILL");
  await vi.waitFor(() => expect(seen.last("link")).toMatchObject({ state: "lost" }), PATIENT);
  expect(seen.last("link")?.message).toMatch(/daemon/);
  const again = await daemonOf(home);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  const http = new HttpClient({ socket: again.socket });
  await http.input(id, { text: "hello again" });
  await http.wait(id);
  const { last_seq } = await http.session(id);
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq)), PATIENT);
  expect(seen.inputs().some(({ kind }) => kind === "reset")).toBe(false);
});

test("only the newest events are read at first; loadEarlier brings all anew behind a reset, in one batch, and goes on", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "tool");
  const { last_seq } = await http.session(id);
  const seen = watch(daemon, id, { history: 3 });
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  expect(seen.seqs()).toEqual(upTo(last_seq, last_seq - 2));
  expect(await seen.source.loadEarlier()).toBe(true);
  await vi.waitFor(() => expect(seen.seqs()).toEqual(upTo(last_seq, last_seq - 5)), PATIENT);
  const [first, ...rest] = seen.batches.find((batch) => batch[0]?.kind === "reset") ?? [];
  expect(first).toEqual({ kind: "reset" });
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

test("loadEarlier while the agent speaks loses nothing and brings nothing twice", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "tool");
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

test("a session that is removed is told as closed, and one that never was too", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "hello");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  await http.remove(id);
  await vi.waitFor(() => expect(seen.last("closed")?.data).toMatchObject({ reason: "deleted" }), PATIENT);
  const never = watch(daemon, "never");
  await vi.waitFor(() => expect(never.last("closed")?.data).toMatchObject({ reason: "unknown" }), PATIENT);
});

test("behind close nothing is told, and no connection is left", async () => {
  const daemon = await daemonOf();
  const http = new HttpClient({ socket: daemon.socket });
  const id = await settled(http, "hello");
  const seen = watch(daemon, id);
  await vi.waitFor(() => expect(seen.last("link")?.state).toBe("live"), PATIENT);
  await seen.source.close();
  const count = seen.batches.length;
  await http.input(id, { text: "hello" });
  await http.wait(id);
  expect(seen.batches).toHaveLength(count);
  await vi.waitFor(async () => expect(await http.status()).toMatchObject({ http: { streams: 0 } }), PATIENT);
});
