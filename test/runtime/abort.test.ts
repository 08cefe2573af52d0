// A turn that is aborted at each of its moments: real HTTP, real processes, hooks that are programs.
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RuntimeEvent } from "../../src/runtime/events.ts";
import { answered } from "../../src/runtime/history.ts";
import { chatReply, type ModelServer, type Reply, startModelServer } from "../support/model-server.ts";
import { Place } from "./place.ts";

/** No other process sleeps so long. */
const SLEEP = `0.0${process.pid}01`;
const EVENTS = ["PreToolUse", "AfterModelResponse"];

let place: Place;
let model: ModelServer;

beforeEach(async () => {
  place = new Place();
  place.write("a.txt", "a\n");
  model = await startModelServer(...Array.from({ length: 400 }, () => reply));
  place.configure({
    defaultProvider: "local",
    providers: { local: { type: "openai-compatible", model: "m", baseURL: model.url, maxRetries: 0 } },
    sandbox: { mode: "off" },
    hooks: EVENTS.map((event) => ({ name: event, event, command: "cat >/dev/null" })),
  });
});

afterEach(async () => {
  await place.close();
  await model.close();
});

/** To "work" two calls, to their results an answer, and to anything else too. */
const reply: Reply = (exchange) => {
  const { messages } = exchange.request.body as { messages: { role: string; content: unknown }[] };
  const calls = [
    { name: "bash", input: { command: `sleep ${SLEEP}; echo one` } },
    { name: "read_file", input: { path: "a.txt" } },
  ];
  return chatReply("Here.", messages.at(-1)?.content === "work" ? calls : [])(exchange);
};

test.each([
  ["at once", () => Promise.resolve()],
  ["a little later", () => nextRound()],
] as const)(
  "a turn that is aborted %s after any of its events ends once, leaves a whole history and no process, and the next one works",
  { timeout: 60_000 },
  async (_name, pause) => {
    const events: RuntimeEvent[] = [];
    let abortAt = Number.POSITIVE_INFINITY;
    let abort = new AbortController();
    const { session } = await place.open({
      onEvent: (event) => {
        events.push(event);
        if (events.length === abortAt) void pause().then(() => abort.abort());
      },
    });
    for (let at = 1, last = ""; last !== "completed"; at += 1) {
      events.length = 0;
      abortAt = at;
      abort = new AbortController();
      const report = await session.run({ text: "work", signal: abort.signal });
      last = report.outcome;
      expect(["aborted", "completed"]).toContain(last);
      expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
      expect(events.at(-1)?.type).toBe("turn.ended");
      expect(openCalls(events)).toEqual([]);
      expect(answered(session.history)).toEqual(session.history);
      expect(processesOf(SLEEP)).toEqual([]);
      abortAt = Number.POSITIVE_INFINITY;
      expect(await session.run({ text: "go on" })).toMatchObject({ outcome: "completed" });
      // A turn that ran to its end although it was told to stop near it is not the end of the search.
      if (last === "completed" && events.length >= at) last = "";
      if (at > 60) throw new Error("the turn never completes");
    }
  },
);

/** Calls that were told of and whose end was not. */
function openCalls(events: readonly RuntimeEvent[]): string[] {
  const ended = new Set(
    events.flatMap((event) =>
      event.type === "tool.completed" || event.type === "tool.failed" ? [event.callId] : [],
    ),
  );
  return events.flatMap((event) =>
    event.type === "tool.requested" && !ended.has(event.callId) ? [event.callId] : [],
  );
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
