// Exit codes of `sm wait` and `--wait`, the lines of tail, events and queue.
import { describe, expect, test } from "vitest";
import { queueLines } from "../../../src/cli/blemees/control.ts";
import { explainGap, formatEventLine } from "../../../src/cli/blemees/events.ts";
import { judgeWait } from "../../../src/cli/blemees/outcome.ts";
import { formatActions } from "../../../src/cli/blemees/tail.ts";
import { EventsPage, QueueReply } from "../../../src/protocol/wire/http.ts";
import { anAction, anEvent, aView, aWait } from "../../client/session-views.ts";

const result = (subtype: string) => ({ turn_id: "t1", subtype, ended_at_ms: 0 });
const input = (fields: object) =>
  ({ message_id: "m1", kind: "user", state: "done", queued_at_ms: 0, ...fields }) as never;

test("a wait that a budget ends says which one", () => {
  const held = 'the budget of "lead": $1.20 of $1.00 used';
  const said = (fields: object) => judgeWait(aWait({ reason: "blocked", session: aView(fields) })).text;
  expect(said({ held, pending_requests: 0 })).toBe(`waiting for ${held}`);
  expect(said({ held, pending_requests: 1 })).toBe("waiting for an answer");
});

describe("the exit code of a wait", () => {
  test.each([
    ["idle after a good turn", 0, { session: aView({ last_result: result("success") }) }],
    ["idle and never used", 0, { session: aView() }],
    ["idle after a bad turn", 1, { session: aView({ last_result: result("error") }) }],
    ["idle after an interrupt", 1, { session: aView({ last_result: result("interrupted") }) }],
    ["blocked", 3, { reason: "blocked", session: aView({ last_result: result("success") }) }],
    [
      "stopped by somebody",
      4,
      { reason: "stopped", session: aView({ stopped_at_ms: 1, last_result: result("success") }) },
    ],
    [
      "put away after a good turn",
      0,
      { reason: "stopped", session: aView({ last_result: result("success") }) },
    ],
    ["put away before any turn", 4, { reason: "stopped", session: aView() }],
    ["out of time", 124, { reason: "timeout", session: aView() }],
    [
      "a message whose turn went well, though a later one failed",
      0,
      {
        reason: "input_done",
        input: input({ outcome: "success" }),
        session: aView({ last_result: result("error") }),
      },
    ],
    ["a message whose turn failed", 1, { reason: "input_done", input: input({ outcome: "error" }) }],
    ["a message that was cancelled", 4, { reason: "input_done", input: input({ state: "cancelled" }) }],
    ["a message that could not be delivered", 1, { reason: "input_done", input: input({ state: "failed" }) }],
  ] as const)("%s: %i", (_what, code, reply) => {
    expect(judgeWait(aWait(reply)).code).toBe(code);
  });

  test("its text names the error", () => {
    const last_result = { ...result("error"), error: { code: "x", message: "no credit" } };
    expect(judgeWait(aWait({ session: aView({ last_result }) })).text).toContain("no credit");
  });
});

test("actions show their time of day, those of other days their date", () => {
  const now = new Date(2026, 5, 2, 12, 0, 0);
  const today = anAction({ started_at_ms: new Date(2026, 5, 2, 9, 5, 7).getTime() });
  const before = anAction({ started_at_ms: new Date(2026, 5, 1, 9, 5, 7).getTime() });
  expect(formatActions([before, today], now)).toEqual([
    "2026-06-01 09:05:07  ✓ ran npm test",
    "09:05:07  ✓ ran npm test",
  ]);
});

test("an event is one line, also one that was never stored and one without a time", () => {
  const event = { ...anEvent(7), timestamp_ms: null, type: "agent.result", preview: "success\nx" };
  expect(formatEventLine(event, Infinity, new Date())).toBe("     7  -  agent.result        success x");
  expect(formatEventLine({ ...event, seq: null }, 20, new Date())).toBe("     -  -  agent.re…");
});

const page = (fields: object) =>
  EventsPage.parse({
    events: [],
    earliest_seq: 9,
    latest_seq: 20,
    next_seq: 20,
    history_gap: true,
    gap_reason: "retention",
    ...fields,
  });

test.each([
  [page({}), "· gap: events 4 to 8 have been pruned (retention)"],
  [page({ earliest_seq: null }), "· gap: events after 3 have been pruned (retention)"],
  [page({ gap_reason: "persistence_error" }), "· gap: some events could not be stored and are missing here"],
])("a gap says what is missing: %#", (gap, text) => {
  expect(explainGap(3, gap)).toBe(text);
});

test("the queue shows the next messages first, the delivered ones below, and why it is held", () => {
  const queue = QueueReply.parse({
    session_id: "s1",
    queued: [
      {
        message_id: "m2",
        kind: "wake",
        message: { role: "user", content: "kid is\ndone" },
        queued_at_ms: 0,
        from: "kid",
      },
    ],
    recent: [
      { message_id: "m2", kind: "wake", state: "queued", queued_at_ms: 0 },
      { message_id: "m1", kind: "user", state: "done", queued_at_ms: 0, outcome: "success" },
    ],
    held: "the agent waits for an answer",
  });
  expect(queueLines(queue, Infinity, 5_000)).toEqual([
    "MESSAGE  STATE   FROM      SENT    TEXT",
    "m2       queued  wake kid  5s ago  kid is done",
    "m1       done    user      5s ago  success",
    "held: the agent waits for an answer",
  ]);
});
