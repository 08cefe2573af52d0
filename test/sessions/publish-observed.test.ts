// Side outputs of the event path: every frame and every stored step of a request to the observer, stored and failed
// writes to the metrics.
import { expect, test } from "vitest";
import { createMetrics, type Metrics } from "../../src/base/metrics.ts";
import { noObserver } from "../../src/observe/none.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { createPublisher, type Publisher } from "../../src/sessions/stream/publish.ts";
import { Stream } from "../../src/sessions/stream/stream.ts";
import { keptLog } from "../observe/material.ts";
import { FakeStore, gate, rowOf, settle } from "./fakes.ts";

interface Bench {
  store: FakeStore;
  publisher: Publisher;
  stream: Stream;
  metrics: Metrics;
  log: ReturnType<typeof keptLog>;
  heard: unknown[];
}

function bench(): Bench {
  const store = new FakeStore();
  const metrics = createMetrics();
  const log = keptLog();
  const heard: unknown[] = [];
  const observer = {
    ...noObserver,
    frame: (row: object, frame: object) => heard.push([(row as { session_id: string }).session_id, frame]),
    request: (row: RequestRow) => heard.push(row.status),
  };
  const publisher = createPublisher(store, log.log, { observer, metrics });
  const stream = new Stream({ row: rowOf("s"), ringSize: 10, store, pressure: () => undefined });
  return { store, publisher, stream, metrics, log, heard };
}

const delta = { type: "agent.delta", backend: "fake", kind: "text", text: "x" };
const request: RequestRow = {
  request_id: "r",
  session_id: "s",
  backend: "fake",
  request_type: "command",
  status: "pending",
  payload: { title: "sh: ls", choices: [] },
  shown_hash: "h",
  requested_at_ms: 1,
  generation: "g",
};

test("the observer receives every frame in order, at once, with the session's row", async () => {
  const { publisher, stream, heard } = bench();
  publisher.publish(stream, delta);
  publisher.publish(stream, { ...delta, text: "y" });
  expect(heard).toEqual([
    ["s", delta],
    ["s", { ...delta, text: "y" }],
  ]);
  await stream.settled();
});

test("it receives a request only once it is stored", async () => {
  const { store, publisher, stream, heard } = bench();
  const { open, passed } = gate();
  store.held = passed;
  const stored = publisher.publishRequest(stream, request, undefined);
  await settle();
  expect(heard).toEqual([]);
  open();
  expect(await stored).toBeUndefined();
  expect(heard).toEqual(["pending"]);
});

test("it never receives a request that was not stored", async () => {
  const { store, publisher, stream, heard } = bench();
  store.failing = true;
  expect(await publisher.publishRequest(stream, request, undefined)).toBe("disk full");
  expect(heard).toEqual([]);
});

test("every batch that the log refused is counted and reported as event_persist_error", async () => {
  const { store, publisher, stream, metrics, log } = bench();
  publisher.publish(stream, delta);
  await stream.settled();
  expect(metrics.text()).toContain("blemees_event_persist_error_total 0\n");
  expect(metrics.text()).toContain("blemees_events_stored_total 1\n");
  store.failing = true;
  publisher.publish(stream, delta);
  await stream.settled();
  publisher.publish(stream, delta);
  await stream.settled();
  expect(metrics.text()).toContain("blemees_event_persist_error_total 2\n");
  expect(log.of("event_persist_error")).toMatchObject([
    { fields: { message: "disk full", batches: 1 } },
    { fields: { message: "disk full", batches: 1 } },
  ]);
});
