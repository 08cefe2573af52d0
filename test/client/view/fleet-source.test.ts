// All sessions as inputs of the list, and one stream of changes for several readers.
import { afterEach, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { applyChanges, createFleet, type FleetInput } from "../../../src/client/view/fleet.ts";
import { openFleet } from "../../../src/client/view/fleet-source.ts";
import type { ChangeView, ViewPort } from "../../../src/client/view/port.ts";
import { shareChanges } from "../../../src/client/view/share.ts";
import { gate } from "../../sessions/fakes.ts";
import { startDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { aView } from "../session-views.ts";

const FAST = { initialMs: 1, maxMs: 2 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A port whose stream of changes the test feeds, cuts, and counts. */
function scripted(): { port: ViewPort; streams: Stream[] } {
  const streams: Stream[] = [];
  const port = {
    sessionsPage: async () => ({ sessions: [aView({ session_id: "a" })] }),
    requests: async () => ({ requests: [] }),
    changes: (signal: AbortSignal) => {
      const stream = new Stream(signal);
      streams.push(stream);
      return stream.read();
    },
  } as unknown as ViewPort;
  return { port, streams };
}

class Stream {
  readonly signal: AbortSignal;
  readonly #waiting: (ChangeView | Error)[] = [];
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
    signal.addEventListener("abort", () => this.#wake());
  }

  give(...items: (ChangeView | Error)[]): void {
    this.#waiting.push(...items);
    this.#wake();
  }

  async *read(): AsyncGenerator<ChangeView, void> {
    while (!this.signal.aborted) {
      const item = this.#waiting.shift();
      if (item instanceof Error) throw item;
      if (item !== undefined) yield item;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

function watch(port: ViewPort) {
  const batches: (readonly FleetInput[])[] = [];
  const source = openFleet(port, (inputs) => batches.push(inputs), { backoff: FAST });
  closers.push(() => source.close());
  return { source, batches, fleet: () => applyChanges(createFleet(), batches.flat()) };
}

const RESET: ChangeView = { kind: "reset" };
const CUT = Object.assign(new Error("cut"), { code: "connection_lost" });

test("a busy session is reported once per batch, in its last state", async () => {
  const { port, streams } = scripted();
  const { batches, fleet } = watch(port);
  await vi.waitFor(() => expect(streams).toHaveLength(1), PATIENT);
  streams[0]?.give(RESET);
  await vi.waitFor(() => expect(fleet().link.state).toBe("live"), PATIENT);
  const before = batches.length;
  const many = Array.from({ length: 500 }, (_, at) => aView({ session_id: "a", turns: at }));
  streams[0]?.give(...many.map((session) => ({ kind: "session" as const, session })));
  await vi.waitFor(() => expect(fleet().sessions.get("a")?.turns).toBe(499), PATIENT);
  expect(batches.slice(before).flat().length).toBeLessThan(50);
});

test("the first page is shown at once, the others follow, and changes meanwhile are not undone by them", async () => {
  const { port, streams } = scripted();
  const rest = gate();
  const pages: (string | undefined)[] = [];
  port.sessionsPage = async ({ after }) => {
    pages.push(after);
    if (after === undefined) return { sessions: [aView({ session_id: "a" })], next: "1" };
    await rest.passed;
    if (after === "2") return { sessions: [aView({ session_id: "c" })] };
    return { sessions: [aView({ session_id: "b", turns: 1 }), aView({ session_id: "gone" })], next: "2" };
  };
  const { fleet } = watch(port);
  await vi.waitFor(() => expect(streams).toHaveLength(1), PATIENT);
  streams[0]?.give(RESET);
  await vi.waitFor(() => expect([...fleet().sessions.keys()]).toEqual(["a"]), PATIENT);
  expect(fleet().link.state).toBe("live");
  streams[0]?.give({ kind: "session", session: aView({ session_id: "b", turns: 2 }) });
  streams[0]?.give({ kind: "session_removed", session_id: "gone" });
  rest.open();
  await vi.waitFor(() => expect(fleet().sessions.get("b")?.turns).toBe(2), PATIENT);
  await vi.waitFor(() => expect([...fleet().sessions.keys()].sort()).toEqual(["a", "b", "c"]), PATIENT);
  expect(pages).toEqual([undefined, "1", "2"]);
});

test("a late reader of a shared stream reads everything, and the stream ends with its last reader", async () => {
  const { port, streams } = scripted();
  const shared = shareChanges(port);
  const first = watch(shared);
  await vi.waitFor(() => expect(streams).toHaveLength(1), PATIENT);
  streams[0]?.give(RESET);
  await vi.waitFor(() => expect(first.fleet().link.state).toBe("live"), PATIENT);
  const second = watch(shared);
  await vi.waitFor(() => expect(second.fleet().sessions.size).toBe(1), PATIENT);
  streams[0]?.give({ kind: "session", session: aView({ session_id: "b" }) });
  for (const { fleet } of [first, second])
    await vi.waitFor(() => expect(fleet().sessions.has("b")).toBe(true), PATIENT);
  await first.source.close();
  expect(streams[0]?.signal.aborted).toBe(false);
  await second.source.close();
  expect(streams).toHaveLength(1);
  expect(streams[0]?.signal.aborted).toBe(true);
});

test("a shared stream that is cut is reopened once for all readers", async () => {
  const { port, streams } = scripted();
  const shared = shareChanges(port);
  const all = [watch(shared), watch(shared)];
  await vi.waitFor(() => expect(streams).toHaveLength(1), PATIENT);
  streams[0]?.give(RESET, CUT);
  await vi.waitFor(() => expect(streams).toHaveLength(2), PATIENT);
  streams[1]?.give(RESET, { kind: "session", session: aView({ session_id: "b" }) });
  for (const { fleet } of all) await vi.waitFor(() => expect(fleet().sessions.has("b")).toBe(true), PATIENT);
  expect(streams).toHaveLength(2);
});

test("a killed daemon is reported as lost, and the list is complete again when it is back", async () => {
  const first = await startDaemon();
  const http = new HttpClient({ socket: first.socket });
  const { fleet } = watch(http.withoutRetry());
  await vi.waitFor(() => expect(fleet().link.state).toBe("live"), PATIENT);
  const { session_id } = (await http.spawn({ backend: "demo", prompt: "approve" })).session;
  await vi.waitFor(() => expect(fleet().sessions.get(session_id)?.pending_requests).toBe(1), PATIENT);
  await first.kill("SIGKILL");
  await vi.waitFor(() => expect(fleet().link.state).toBe("lost"), PATIENT);
  expect(fleet().sessions.has(session_id)).toBe(true);
  const second = await startDaemon({ home: first.home });
  closers.push(() => second.close());
  await vi.waitFor(() => expect(fleet().link.state).toBe("live"), PATIENT);
  const other = (await http.spawn({ backend: "demo" })).session.session_id;
  await vi.waitFor(() => expect(fleet().sessions.has(other)).toBe(true), PATIENT);
  expect(new Set(fleet().sessions.keys())).toEqual(new Set([session_id, other]));
});
