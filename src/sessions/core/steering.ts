// Messages for the running turn. Such a message stays in the queue until its agent reports that it is part of the turn;
// if that never happens, it is delivered like any other message. While it is with the agent, nothing else is delivered.
import { getQueue, getTurn, isRepeating, isUnstored, type SessionState, type Steer } from "./state.ts";
import type { Step } from "./step.ts";

/** The turn that a message can be added to. */
export function findSteerable({ phase }: SessionState): string | undefined {
  return phase.name === "turn" && !phase.turn.isInterrupted ? phase.turn.turn_id : undefined;
}

/** Why a message is not for the running turn. */
export function explainQueued(state: SessionState, canSteer: boolean): string | undefined {
  const turn = getTurn(state);
  if (turn === undefined) return "no turn is running; the message starts one";
  if (findSteerable(state) === undefined) return "the turn is being interrupted; the message is queued";
  if (canSteer) return undefined;
  return `${state.row.backend} takes no messages during this turn; the message is queued`;
}

/** Gives the agent the messages for the turn that it has begun. */
export function giveSteers(step: Step): void {
  const { state } = step;
  const { run } = state;
  const turn_id = findSteerable(state);
  if (run === undefined || turn_id === undefined || step.turn?.isGiven !== true || isRepeating(state)) return;
  const given = new Set((run.steers ?? []).map(({ message_id }) => message_id));
  const fresh = getQueue(state.row).filter(
    ({ message_id, for_turn }) =>
      for_turn === turn_id && !given.has(message_id) && !isUnstored(state, message_id), // mutation: steers-are-stored-first
  );
  if (fresh.length === 0) return;
  const steers = fresh.map(({ message_id }): Steer => ({ message_id, cancels: [] }));
  step.set({ run: { ...run, steers: [...(run.steers ?? []), ...steers] } }); // mutation: steers-are-given-once
  for (const { message, message_id } of fresh) step.emit({ kind: "steer", message, message_id });
}

/** What an adopted agent has; anything else that was meant for its turn is an ordinary message now. */
export function toSteers({ row }: SessionState, ids: readonly string[]): Steer[] {
  const waiting = getQueue(row).filter(({ message_id }) => ids.includes(message_id));
  return waiting.map(({ message_id }) => ({ message_id, cancels: [] }));
}

/** True: it is with the agent, and the call waits for what becomes of it. */
export function askBack(step: Step, job_id: string, message_id: string): boolean {
  const { run } = step.state;
  const steer = run?.steers?.find((one) => one.message_id === message_id);
  if (run === undefined || steer === undefined) return false;
  const asked = { message_id, cancels: [...steer.cancels, job_id] };
  step.set({ run: { ...run, steers: run.steers?.map((one) => (one === steer ? asked : one)) ?? [] } });
  step.emit({ kind: "take_back", message_id });
  return true;
}
