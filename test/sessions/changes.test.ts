// What dashboards and waiters receive: few views, always the last state, and no harm from a bad listener.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import type { InputRecord } from "../../src/protocol/queue.ts";
import type { ChangeView } from "../../src/protocol/views.ts";
import { Changes } from "../../src/sessions/views/changes.ts";
import { toView, type ViewWorld } from "../../src/sessions/views/view.ts";
import { request } from "../store/material.ts";
import { rowOf } from "./fakes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WORLD: ViewWorld = {
  pending: new Map(),
  familyPending: new Map(),
  children: new Map(),
  lastAction: () => undefined,
  quota: () => [],
  provider: (backend) => backend,
  stallMs: 0,
  nowMs: 0,
};

/** Sessions with nothing but a number of turns. */
function bench(turns: Record<string, number>) {
  const view = vi.fn((session_id: string) => {
    const count = turns[session_id];
    return count === undefined ? undefined : toView({ row: rowOf(session_id, { turns: count }) }, WORLD);
  });
  const above = (session_id: string) => (session_id === "child" ? ["parent"] : []);
  const changes = new Changes({ view, above, log: silentLog });
  const heard: string[] = [];
  const hear = (change: ChangeView) => void heard.push(wordOf(change));
  return { changes, view, heard, hear, turns };
}

function wordOf(change: ChangeView): string {
  if (change.kind === "session") return `${change.session.session_id} ${change.session.turns}`;
  if (change.kind === "request") return `request ${change.request.request_id}`;
  if (change.kind === "queue") return `queue ${change.session_id} ${change.input.state}`;
  return change.kind === "reset" ? "reset" : `gone ${change.session_id}`;
}

const input: InputRecord = { message_id: "m", kind: "user", state: "done", queued_at_ms: 1 };

test("the first change is sent at once, those of the next 50 ms as one, and the last state arrives", async () => {
  const { changes, heard, hear, turns, view } = bench({ s: 0, t: 0 });
  changes.subscribe(hear);
  for (turns["s"] = 1; turns["s"] < 5; turns["s"] += 1) changes.markChanged("s");
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(["s 5"]);
  for (turns["s"] = 6; turns["s"] < 20; turns["s"] += 1) {
    changes.markChanged("s");
    await vi.advanceTimersByTimeAsync(2);
  }
  changes.markChanged("t");
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(["s 5", "t 0"]);
  await vi.advanceTimersByTimeAsync(50);
  expect(heard).toEqual(["s 5", "t 0", "s 20"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(view).toHaveBeenCalledTimes(3);
  expect(vi.getTimerCount()).toBe(0);
});

test("a session that changes constantly is shown every 50 ms, not later", async () => {
  const { changes, heard, hear } = bench({ s: 0 });
  changes.subscribe(hear);
  for (let ms = 0; ms < 1_000; ms += 5) {
    changes.markChanged("s");
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(heard).toHaveLength(21);
});

test("nothing is computed without listeners, and nothing is sent to one that has ended", async () => {
  const { changes, view, heard, hear } = bench({ s: 0 });
  changes.markChanged("s");
  const end = changes.subscribe(hear);
  await vi.advanceTimersByTimeAsync(100);
  expect(view).not.toHaveBeenCalled();
  changes.markChanged("s");
  end();
  await vi.advanceTimersByTimeAsync(100);
  expect({ heard, calls: view.mock.calls, timers: vi.getTimerCount() }).toEqual({
    heard: [],
    calls: [],
    timers: 0,
  });
});

test("a removed session is reported at once, and no view of it follows", async () => {
  const { changes, heard, hear } = bench({ s: 1 });
  changes.subscribe(hear);
  changes.markChanged("s");
  changes.markRemoved("s");
  await vi.advanceTimersByTimeAsync(100);
  expect(heard).toEqual(["gone s"]);
});

test("requests and messages are sent individually, with the views of all affected sessions", async () => {
  const { changes, heard, hear } = bench({ child: 1, parent: 2 });
  changes.subscribe(hear);
  changes.reportRequest(request("child", "r"));
  changes.reportInput("child", input);
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(["request r", "queue child done", "child 1", "parent 2"]);
});

test("a listener or a view that throws does not affect others", async () => {
  const { changes, heard, hear, view } = bench({ s: 1, t: 1 });
  changes.subscribe(() => {
    throw new Error("bad listener");
  });
  changes.subscribe(hear);
  view.mockImplementationOnce(() => {
    throw new Error("bad view");
  });
  changes.markChanged("s");
  changes.markChanged("t");
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(["t 1"]);
});

test("a listener on one session receives every change of it at once, without a view", () => {
  const { changes, view } = bench({ s: 1 });
  const ear = vi.fn();
  const end = changes.onTouch("s", ear);
  changes.markChanged("s");
  changes.markChanged("t");
  changes.reportInput("s", input);
  changes.reportRequest(request("s", "r"));
  changes.markRemoved("s");
  expect(ear).toHaveBeenCalledTimes(4);
  end();
  changes.markChanged("s");
  expect(ear).toHaveBeenCalledTimes(4);
  expect(view).not.toHaveBeenCalled();
});
