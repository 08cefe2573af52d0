// Aborts a turn at each of its moments, one run after the other, until one runs to its end. The gate takes every third
// moment; `npm run chaos` takes all of them.
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect } from "vitest";
import type { RuntimeEvent } from "../../src/runtime/events.ts";
import { completeToolCalls } from "../../src/runtime/history.ts";
import type { DemianSession } from "../../src/runtime/session-types.ts";
import { IS_CHAOS } from "../support/sizes.ts";
import type { Opened } from "./place.ts";

/** For `test.each`: how soon after an event. */
export const PAUSES = [
  ["at once", () => Promise.resolve()],
  ["a little later", () => nextRound()],
] as const;

export interface Moments {
  open(order: { onEvent(event: RuntimeEvent): void }): Promise<Opened>;
  pause(): Promise<void>;
  /** No other process has this argument. */
  argument: string;
  /** More than any turn has. */
  maxEvents: number;
}

/** Each time: one end, the last event; every call answered; a whole history; no process; and the next turn works. */
export async function abortAtEveryEvent(moments: Moments): Promise<DemianSession> {
  const events: RuntimeEvent[] = [];
  let abortAt = Number.POSITIVE_INFINITY;
  let abort = new AbortController();
  const { session } = await moments.open({
    onEvent: (event) => {
      events.push(event);
      if (events.length === abortAt) void moments.pause().then(() => abort.abort());
    },
  });
  for (let at = 1, last = ""; last !== "completed"; at += IS_CHAOS ? 1 : 3) {
    events.length = 0;
    abortAt = at;
    abort = new AbortController();
    const report = await session.run({ text: "work", signal: abort.signal });
    last = report.outcome;
    expect(["aborted", "completed"]).toContain(last);
    const told = [...events];
    await nextRound();
    expect(events).toEqual(told);
    expect(told.at(-1)).toMatchObject({ type: "turn.ended", outcome: last });
    expect(
      told.filter(({ type, agentPath }) => type === "turn.ended" && agentPath === undefined),
    ).toHaveLength(1);
    expect(openWork(told)).toEqual([]);
    expect(completeToolCalls(session.history)).toEqual(session.history);
    expect(processesOf(moments.argument)).toEqual([]);
    abortAt = Number.POSITIVE_INFINITY;
    expect(await session.run({ text: "go on" })).toMatchObject({ outcome: "completed" });
    // A turn that finished although it was aborted near its end does not end the search.
    if (last === "completed" && told.length >= at) last = "";
    if (at > moments.maxEvents) throw new Error("the turn never completes");
  }
  return session;
}

/** Calls and sub-agents whose start was reported and whose end was not. */
function openWork(events: readonly RuntimeEvent[]): unknown[] {
  const open = new Set<unknown>();
  for (const event of events) {
    if (event.type === "tool.requested") open.add(event.callId);
    if (event.type === "tool.completed" || event.type === "tool.failed") open.delete(event.callId);
    if (event.type === "agent.invocation.started") open.add(event.invocationId);
    if (/^agent\.invocation\.(completed|failed|cancelled)$/.test(event.type)) open.delete(event.invocationId);
  }
  return [...open];
}

function processesOf(argument: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}
