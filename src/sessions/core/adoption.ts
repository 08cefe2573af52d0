// A session whose agent outlived the daemon: continues its turn, or finds that the agent never got the message.
import { defined } from "../../base/values.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { findAskingSince } from "./budget.ts";
import type { AdoptedRun } from "./inputs.ts";
import { closeTurn } from "./restore.ts";
import { getQueue, isBusy, type Turn } from "./state.ts";
import { toSteers } from "./steering.ts";
import type { Step } from "./step.ts";
import { createTurn, TURN_CUT } from "./turn.ts";
import { beginTurn, setTurn } from "./turn-steps.ts";

type StoredTurn = NonNullable<SessionRow["turn"]>;

/** How long clients of the earlier daemon may take to reconnect before their idle agents are stopped. */
const RECONNECT_MS = 15_000;
const NOT_GIVEN = "the daemon stopped before the agent received the message; send it again";

export function onAdopted(
  step: Step,
  { generation, isBusy: isBusyNow, hasInit, open, toRepeat, isGone, steers = [], ...turns }: AdoptedRun,
): void {
  const gone = defined({ isGone });
  const given = steers.length > 0 ? { steers: toSteers(step.state, steers) } : {};
  const run = {
    generation,
    isUp: true,
    hasInit,
    isBusy: isBusyNow,
    isPaused: false,
    toRepeat,
    ...gone,
    ...given,
  };
  const owner = { left_at_ms: step.at_ms, isAwaited: true } as const; // mutation: clients-may-reconnect
  step.set({ run, phase: { name: "ready" }, owner, requests: open });
  step.emit({ kind: "set_timer", name: "reconnect", ms: RECONNECT_MS });
  const turn = continueTurn(step, turns);
  if (turn !== undefined) setTurn(step, turn); // mutation: adopted-turns-continue
  step.save();
}

function continueTurn(
  step: Step,
  { stored, turn, isGiven }: Pick<AdoptedRun, "stored" | "turn" | "isGiven">,
): Turn | undefined {
  const wanted = stored?.origin === "agent" ? undefined : stored;
  // The start of the agent's own turn is reported once more by its output, unless clients know it already.
  if (turn === undefined && wanted === undefined && stored?.is_announced === true)
    endLost(step, stored, TURN_CUT);
  if (turn?.origin === "user") return toCurrent(step, turn, wanted);
  if (isGiven && (wanted !== undefined || turn === undefined)) {
    // Until its message is given again, a result is of a turn that the agent began by itself.
    return { ...toCurrent(step, turn ?? createTurn("", 0, "user"), wanted), isGiven: false }; // mutation: own-turns-before-given
  }
  const { run } = step.state;
  if (wanted?.undelivered !== undefined && wanted.undelivered.generation === run?.generation && !run.isGone)
    return giveNow(step, turn, wanted, wanted.undelivered);
  if (wanted !== undefined) endLost(step, wanted, NOT_GIVEN, { isGiven: false });
  return turn === undefined ? undefined : toCurrent(step, turn, wanted === undefined ? stored : undefined);
}

/** The earlier daemon had stored that the message leaves the queue, and did not give it to the agent. */
function giveNow(
  step: Step,
  turn: Turn | undefined,
  stored: StoredTurn,
  undelivered: NonNullable<StoredTurn["undelivered"]>,
): Turn {
  const { entry } = undelivered;
  step.write({ for: "handover", turn_id: stored.turn_id, entry }); // mutation: undelivered-messages-are-given
  return {
    ...toCurrent(step, turn ?? createTurn("", 0, "user"), stored),
    isGiven: false,
    undelivered,
    isInherited: true,
  };
}

function endLost(step: Step, stored: StoredTurn, message: string, how?: { isGiven: boolean }): void {
  const result = closeTurn(step, stored, message, how);
  if (getQueue(step.state.row).length > 0 || isBusy(step.state)) step.set({ unfinished: result });
}

/** The stored row knows its id; without one, the daemon died before it could be stored. */
function toCurrent(step: Step, facts: Turn, stored: StoredTurn | undefined): Turn {
  const askingSinceMs = findAskingSince(step.state.requests);
  return {
    ...facts,
    turn_id: stored?.turn_id ?? step.id,
    started_at_ms: stored?.started_at_ms ?? step.at_ms,
    origin: stored === undefined ? facts.origin : (stored.origin ?? "user"),
    isAnnounced: stored?.is_announced === true, // mutation: adopted-turns-are-announced-once
    isGiven: true,
    ...defined({ wake: stored?.wake, message: stored?.message, after_limit: stored?.after_limit }), // mutation: adopted-turns-know-their-message
    ...defined({ used: facts.used ?? stored?.used, askingSinceMs }),
  };
}

/** A message is given, or an interrupt is asked for, as the earlier daemon did. */
export function onRepeated(step: Step, call: "send" | "interrupt"): void {
  const { turn } = step;
  const { phase, run } = step.state;
  const { name } = phase;
  if (run !== undefined) step.set({ run: { ...run, toRepeat: (run.toRepeat ?? 1) - 1 } });
  if (call === "interrupt") {
    if (turn !== undefined) setTurn(step, { ...turn, isInterrupted: true });
  } else if (turn !== undefined) setTurn(step, { ...turn, isGiven: true });
  else if (name === "ready" || name === "interrupting") beginTurn(step, "user");
}

export function onAwaited(step: Step): void {
  const { client_id, left_at_ms } = step.state.owner;
  if (client_id === undefined) step.set({ owner: defined({ left_at_ms }) }); // mutation: idle-agents-are-not-kept
}
