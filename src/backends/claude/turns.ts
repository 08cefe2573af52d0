// Which turn a result ends. "One user message = one result" is false: claude begins turns by
// itself when a background task ends, and folds a message that comes during a tool into the running turn.
// Seen with 2.1.197: the result of a turn that claude began carries `origin.kind`. If a message of ours was
// waiting, the next frame shows what became of it: idle → it was folded and this was its result; anything
// else → its own turn follows. The message's turn then goes on until its own result: whoever sent it must
// not get claude's words about a background task as the answer.
import { isObject, type JsonObject } from "../../base/json.ts";
import { toNotice } from "../../protocol/notices.ts";
import { withRaw } from "./raw.ts";
import { addSpent, subtypeOf, translateResult } from "./result-frames.ts";
import { type ClaudeState, isTurnActive, type Report } from "./state.ts";

/** Frames of a turn's content: a held result cannot be the last word any more. */
const CONTENT: ReadonlySet<unknown> = new Set(["assistant", "stream_event", "user"]);

const OWN_TURN_ENDED =
  "Claude finished a turn it had started by itself; the message that was waiting is next.";

/** A user message was written. */
export function noteSent(state: ClaudeState): void {
  state.hasMessage = true;
  state.outstanding += 1;
  state.mayBeFolded = false;
  // Signs of work from before the message belong to something else, and so does the idle after them.
  state.hasBegun = false;
}

/** It was answered, or could not be written after all. */
export function noteAnswered(state: ClaudeState): void {
  state.outstanding = Math.max(0, state.outstanding - 1);
}

/** What this frame, before it is translated itself, says about turns. */
export function followTurn(state: ClaudeState, frame: JsonObject): Report[] {
  const isState = frame["type"] === "system" && frame["subtype"] === "session_state_changed";
  // Wrappers and stubs introduce themselves as they start; claude does it with each turn.
  const isInit = frame["type"] === "system" && frame["subtype"] === "init" && state.hasMessage;
  if (isState) state.hasStateEvents = true;
  const reports: Report[] = [];
  if (state.held !== undefined && (isState || isInit || CONTENT.has(frame["type"]))) {
    reports.push(...settleHeld(state, isState && frame["state"] === "idle"));
  }
  if (isState && frame["state"] === "idle") reports.push(...missResult(state));
  if (isInit || (isState && frame["state"] === "running")) state.hasBegun = true;
  // Every turn begins with an init. Content alone starts none: it may be the rest of a turn that is over.
  if (isInit && !isTurnActive(state)) {
    state.agentTurn = true;
    reports.push({ kind: "turn_started" });
  }
  return reports;
}

export function endTurn(state: ClaudeState, frame: JsonObject): Report[] {
  const origin = frame["origin"];
  const isAgents = isObject(origin) && typeof origin["kind"] === "string";
  if (isAgents && state.outstanding > 0 && state.hasStateEvents) {
    // A second one before anything else: the first was certainly not ours.
    const earlier = state.held === undefined ? [] : settleHeld(state, false);
    state.held = frame;
    return earlier;
  }
  noteAnswered(state);
  return finish(state, frame);
}

/** The process is gone: what was held goes out as it is. */
export function flushHeld(state: ClaudeState): Report[] {
  const frame = state.held;
  state.held = undefined;
  return frame === undefined ? [] : finish(state, frame);
}

/**
 * Claude has nothing to do although a turn that it began has no result: the line could not be read. An idle that
 * belongs to the turn before comes ahead of this turn's first sign and means nothing.
 */
function missResult(state: ClaudeState): Report[] {
  if (!state.hasBegun || !isTurnActive(state)) return [];
  state.outstanding = 0;
  endOfTurn(state);
  const error = { code: "agent_error", message: "claude ended the turn without a readable result" };
  return [
    {
      kind: "event",
      event: { type: "agent.result", backend: "claude", subtype: "error", num_turns: 1, error },
    },
  ];
}

function settleHeld(state: ClaudeState, isIdle: boolean): Report[] {
  const frame = state.held ?? {};
  state.held = undefined;
  // Without the end of a tool in between there was no moment to fold it in: claude will see it only now.
  const isFolded = isIdle && state.mayBeFolded;
  if (isFolded) state.outstanding = 0;
  if (isFolded || subtypeOf(frame) !== "success") {
    const reports = finish(state, frame);
    return isFolded ? reports : [...reports, { kind: "turn_started" }];
  }
  state.spentBefore = addSpent(frame, state.spentBefore);
  endOfTurn(state);
  return withRaw(state.options, frame, [
    { kind: "event", event: toNotice("claude", "own_turn_ended", { text: OWN_TURN_ENDED }) },
  ]);
}

function finish(state: ClaudeState, frame: JsonObject): Report[] {
  const reports = withRaw(
    state.options,
    frame,
    translateResult(state, { ...frame, ...addSpent(frame, state.spentBefore) }),
  );
  state.spentBefore = undefined;
  endOfTurn(state);
  return reports;
}

function endOfTurn(state: ClaudeState): void {
  state.hasBegun = false;
  state.agentTurn = false;
  state.authTold = false;
  state.toolUses.clear();
}
