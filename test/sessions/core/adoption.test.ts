// The first inputs of a session whose agent outlived the daemon, on the reducer. What follows from them is in rules.test.ts.
import { expect, test } from "vitest";
import type { QueuedMessage } from "../../../src/protocol/queue.ts";
import type { SessionRow } from "../../../src/protocol/session.ts";
import type { Effect } from "../../../src/sessions/core/effects.ts";
import type { AdoptedRun, Happening } from "../../../src/sessions/core/inputs.ts";
import { reduce } from "../../../src/sessions/core/reduce.ts";
import { createInitialState } from "../../../src/sessions/core/restore.ts";
import { getTurn, type SessionState, toRow } from "../../../src/sessions/core/state.ts";
import { createTurn } from "../../../src/sessions/core/turn.ts";
import { rowOf } from "../fakes.ts";

const NEW = "new-id";
const STORED = { turn_id: "t", started_at_ms: 5, is_announced: true } as const;
const OWN = { ...STORED, origin: "agent" } as const;
const USER_TURN = createTurn("", 9, "user");
const OWN_TURN = createTurn("", 9, "agent");
const SUCCESS: Happening = {
  kind: "event",
  event: { type: "agent.result", backend: "fake", subtype: "success" },
};
const FAILURE: Happening = {
  kind: "event",
  event: { type: "agent.result", backend: "fake", subtype: "error", error: { code: "x", message: "x" } },
};
const GIVEN: Happening = { kind: "repeated", call: "send" };

interface Adopted {
  state: SessionState;
  effects: Effect[];
  /** Results, as `turn_id subtype`. */
  results: string[];
}

function adopt(
  run: Partial<AdoptedRun>,
  happenings: Happening[] = [],
  row: Partial<SessionRow> = {},
): Adopted {
  const facts = {
    generation: "g",
    isBusy: false,
    hasInit: true,
    open: [],
    isGiven: false,
    toRepeat: 0,
    ...run,
  };
  let state = createInitialState(rowOf("s", row));
  const effects: Effect[] = [];
  for (const happening of [{ kind: "adopted" as const, run: facts }, ...happenings]) {
    const reduced = reduce(state, { ...happening, at_ms: 100, id: NEW });
    state = reduced.state;
    effects.push(...reduced.effects);
  }
  const results = effects.flatMap((effect) => {
    const frame = (effect.kind === "publish" ? effect.frame : {}) as Record<string, unknown>;
    return frame["type"] === "agent.result" ? [`${frame["turn_id"]} ${frame["subtype"]}`] : [];
  });
  return { state, effects, results };
}

test("the turn of a message that the agent has goes on under its stored id, start and announcement", () => {
  const { state, results } = adopt({ stored: STORED, turn: USER_TURN });
  expect(getTurn(state)).toMatchObject({ ...USER_TURN, turn_id: "t", started_at_ms: 5, isAnnounced: true });
  expect(results).toEqual([]);
  expect(adopt({ stored: STORED, turn: USER_TURN }, [SUCCESS]).results).toEqual(["t success"]);
});

test("a turn that was never stored goes on under a new id, and is not announced yet", () => {
  const { state } = adopt({ turn: USER_TURN });
  expect(getTurn(state)).toMatchObject({ turn_id: NEW, started_at_ms: 100, isAnnounced: false });
  expect(toRow(state).turn).toEqual({ turn_id: NEW, started_at_ms: 100 });
});

test("a stored turn whose message never reached the agent ends with an error, and the agent is ready", () => {
  const { state, effects, results } = adopt({ stored: STORED });
  expect(results).toEqual(["t error"]);
  expect(state.phase).toEqual({ name: "ready" });
  expect(state.row.last_result?.error?.message).toMatch(/before the agent received the message; send it/);
  expect(effects).toContainEqual(expect.objectContaining({ kind: "turn_ended", goesOn: false }));
});

test("it is reported as the last one only when nothing is queued or running in the background", () => {
  const entry: QueuedMessage = {
    message_id: "m",
    kind: "user",
    message: { role: "user", content: "x" },
    queued_at_ms: 1,
  };
  const queued = adopt({ stored: STORED }, [], { queue: [entry] });
  const busy = adopt({ stored: STORED, isBusy: true });
  for (const { effects, state } of [queued, busy]) {
    expect(effects).toContainEqual(expect.objectContaining({ kind: "turn_ended", goesOn: true }));
    expect(state.unfinished?.turn_id).toBe("t");
  }
});

test("a wake that never reached the agent is queued again", () => {
  const wake: QueuedMessage = {
    message_id: "w",
    kind: "wake",
    message: { role: "user", content: "x" },
    queued_at_ms: 1,
  };
  const { state } = adopt({ stored: { ...STORED, wake } });
  expect(state.row.queue).toMatchObject([{ message_id: "w_again", kind: "wake" }]);
});

test("a message that is given again keeps its turn, and a result before that is of a turn of the agent's own", () => {
  const before = adopt({ stored: STORED, isGiven: true }, [SUCCESS]);
  expect(before.results).toEqual([]);
  expect(getTurn(before.state)).toMatchObject({ turn_id: "t", isGiven: false });
  expect(adopt({ stored: STORED, isGiven: true }, [SUCCESS, GIVEN, SUCCESS]).results).toEqual(["t success"]);
  const own = adopt({ stored: STORED, turn: OWN_TURN, isGiven: true }, [SUCCESS, GIVEN, SUCCESS]);
  expect(own.results).toEqual(["t success"]);
});

test("a second message that led to nothing stored starts a turn where it is given again", () => {
  const { results } = adopt({ stored: STORED, turn: USER_TURN, isGiven: true }, [SUCCESS, GIVEN, FAILURE]);
  expect(results).toEqual(["t success", `${NEW} error`]);
});

test("a turn of the agent's own does not answer a message that it never got", () => {
  const { state, results } = adopt({ stored: STORED, turn: OWN_TURN });
  expect(results).toEqual(["t error"]);
  expect(getTurn(state)).toMatchObject({ turn_id: NEW, origin: "agent", isGiven: true });
});

test("a stored turn of the agent's own goes on; without anything stored of it, its output starts it again", () => {
  const { state } = adopt({ stored: OWN, turn: OWN_TURN });
  expect(getTurn(state)).toMatchObject({ turn_id: "t", origin: "agent", isAnnounced: true, isGiven: true });
  const { is_announced: _known, ...unknown } = OWN;
  const again = adopt({ stored: unknown });
  expect([again.state.phase.name, again.results]).toEqual(["ready", []]);
  // It ended in what was lost.
  expect(adopt({ stored: OWN }).results).toEqual(["t error"]);
});

test("an interrupt that is repeated makes an error an interrupted turn", () => {
  const interrupt: Happening = { kind: "repeated", call: "interrupt" };
  expect(adopt({ stored: STORED, turn: USER_TURN }, [interrupt, FAILURE]).results).toEqual(["t interrupted"]);
  expect(adopt({}, [interrupt]).state.phase).toEqual({ name: "ready" });
});

test("a queued message waits for the answer to a request of before", () => {
  const open = [
    {
      request_id: "r",
      request_type: "command" as const,
      requested_at_ms: 1,
      title: "may I?",
      isShown: true,
    },
  ];
  const entry: QueuedMessage = {
    message_id: "m",
    kind: "user",
    message: { role: "user", content: "x" },
    queued_at_ms: 1,
  };
  const proceed: Happening[] = [{ kind: "proceed" }, { kind: "proceed" }];
  expect(getTurn(adopt({ open }, proceed, { queue: [entry] }).state)).toBeUndefined();
  expect(getTurn(adopt({}, proceed, { queue: [entry] }).state)).toBeDefined();
});

test("an idle agent waits for its clients, and is stopped when the time is up and none has come", () => {
  const proceed: Happening[] = [{ kind: "proceed" }, { kind: "proceed" }];
  const kinds = (happenings: Happening[]) => adopt({}, happenings).effects.map(({ kind }) => kind);
  expect(adopt({}).effects).toContainEqual({ kind: "set_timer", name: "reconnect", ms: 15_000 });
  expect(kinds(proceed)).not.toContain("stop");
  expect(kinds([{ kind: "timer", timer: "reconnect" }, ...proceed])).toContain("stop");
});

const ENDED: Happening = {
  kind: "ended",
  generation: "g",
  why: { expected: false, message: "exit unknown" },
};

test("a turn whose agent ended without a daemon ends as the rest of its output says, or as crashed, once", () => {
  const run = { stored: STORED, turn: USER_TURN, isGone: true } as const;
  expect(adopt(run, [SUCCESS, ENDED]).results).toEqual(["t success"]);
  const cut = adopt(run, [ENDED]);
  expect(cut.results).toEqual(["t error"]);
  expect(cut.effects).toContainEqual({
    ...{ kind: "orphan", generation: "g", code: "server_restarted" },
    message: "the agent has ended (exit unknown)",
  });
  expect(cut.state).toMatchObject({ phase: { name: "cold" } });
});

test("an idle agent that ended without a daemon gets no message, and its end is no error", () => {
  const entry = {
    message_id: "m",
    message: { role: "user" as const, content: "hi" },
    queued_at_ms: 1,
    kind: "user" as const,
  };
  const proceed: Happening[] = [{ kind: "proceed" }, { kind: "proceed" }];
  const { state, effects } = adopt({ isGone: true }, proceed, { queue: [entry] });
  expect(getTurn(state)).toBeUndefined();
  expect(effects.filter(({ kind }) => kind === "give" || kind === "publish")).toEqual([]);
  expect(adopt({ isGone: true }, [ENDED]).effects.filter(({ kind }) => kind === "publish")).toEqual([]);
});

test("a wake whose turn was cut by the end of daemon and agent is delivered again", () => {
  const wake = {
    message_id: "w",
    message: { role: "user" as const, content: "wake" },
    queued_at_ms: 1,
    kind: "wake" as const,
  };
  const { state } = adopt({ stored: { ...STORED, wake }, turn: USER_TURN, isGone: true }, [ENDED]);
  expect(state.row.queue).toMatchObject([{ message_id: "w_again", kind: "wake" }]);
});
