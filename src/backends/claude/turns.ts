// Decides which turn a result ends. One message does not always have one result: claude starts turns itself when a
// background task ends, and folds a message that arrives during a tool into the running turn. In 2.1.197 the result of a
// turn that claude started has `origin.kind`. If a message of ours was waiting, the next frame shows what happened to it:
// idle means that it was folded and this was its result; anything else means that its own turn follows. The message's
// turn then lasts until its own result, so that its sender does not get claude's text about a background task.
import { isObject, type JsonObject } from "../../base/json.ts";
import { toNotice } from "../../protocol/notices.ts";
import { withRaw } from "./raw.ts";
import { addSpent, readSubtype, translateResult } from "./result-frames.ts";
import { type ClaudeReport, type ClaudeState, isTurnActive } from "./state.ts";

/** Content frames: after one of these a held result was not the last. */
const CONTENT: ReadonlySet<unknown> = new Set(["assistant", "stream_event", "user"]);

const OWN_TURN_ENDED = "Claude finished a turn that it started itself; the waiting message is next.";

/** A user message was written. */
export function noteSent(state: ClaudeState): void {
  state.hasMessage = true;
  state.outstanding += 1;
  state.mayBeFolded = false;
  // Earlier signs of work belong to something else, and so does the idle after them.
  state.hasBegun = false;
}

/** It was answered, or could not be written. */
export function noteAnswered(state: ClaudeState): void {
  state.outstanding = Math.max(0, state.outstanding - 1);
}

/** The reports about turns that a frame causes, before its own translation. */
export function followTurn(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const isState = frame["type"] === "system" && frame["subtype"] === "session_state_changed";
  // Wrappers and stubs print an init when they start; claude prints one with each turn.
  const isInit = frame["type"] === "system" && frame["subtype"] === "init" && state.hasMessage;
  if (isState) state.hasStateEvents = true;
  const reports: ClaudeReport[] = [];
  if (state.held !== undefined && (isState || isInit || CONTENT.has(frame["type"]))) {
    reports.push(...settleHeld(state, isState && frame["state"] === "idle"));
  }
  if (isState && frame["state"] === "idle") reports.push(...missResult(state));
  if (isInit || (isState && frame["state"] === "running")) state.hasBegun = true;
  // Every turn starts with an init. Content alone does not start one: it may be the rest of an earlier turn.
  if (isInit && !isTurnActive(state)) {
    state.agentTurn = true;
    reports.push({ kind: "turn_started" });
  }
  return reports;
}

export function endTurn(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const origin = frame["origin"];
  const isAgents = isObject(origin) && typeof origin["kind"] === "string";
  if (isAgents && state.outstanding > 0 && state.hasStateEvents) {
    // A second one right after the first: the first was not ours.
    const earlier = state.held === undefined ? [] : settleHeld(state, false);
    state.held = frame;
    return earlier;
  }
  noteAnswered(state);
  return finish(state, frame);
}

/** The process has ended: releases the held result unchanged. */
export function flushHeld(state: ClaudeState): ClaudeReport[] {
  const frame = state.held;
  state.held = undefined;
  return frame === undefined ? [] : finish(state, frame);
}

/**
 * Claude is idle although the current turn has no result: the line was unreadable. An idle of the previous turn arrives
 * before this turn's first frame and is ignored.
 */
function missResult(state: ClaudeState): ClaudeReport[] {
  if (!state.hasBegun || !isTurnActive(state)) return [];
  state.outstanding = 0;
  resetTurn(state);
  const error = { code: "agent_error", message: "claude ended the turn without a readable result" };
  return [
    {
      kind: "event",
      event: { type: "agent.result", backend: "claude", subtype: "error", num_turns: 1, error },
    },
  ];
}

function settleHeld(state: ClaudeState, isIdle: boolean): ClaudeReport[] {
  const frame = state.held ?? {};
  state.held = undefined;
  // A message is folded in only when a tool ends; without one, claude will read it only now.
  const isFolded = isIdle && state.mayBeFolded;
  if (isFolded) state.outstanding = 0;
  if (isFolded || readSubtype(frame) !== "success") {
    const reports = finish(state, frame);
    return isFolded ? reports : [...reports, { kind: "turn_started" }];
  }
  state.spentBefore = addSpent(frame, state.spentBefore);
  resetTurn(state);
  return withRaw(state.options, frame, [
    { kind: "event", event: toNotice("claude", "own_turn_ended", { text: OWN_TURN_ENDED }) },
  ]);
}

function finish(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const reports = withRaw(
    state.options,
    frame,
    translateResult(state, { ...frame, ...addSpent(frame, state.spentBefore) }),
  );
  state.spentBefore = undefined;
  resetTurn(state);
  return reports;
}

function resetTurn(state: ClaudeState): void {
  state.hasBegun = false;
  state.agentTurn = false;
  state.authReported = false;
  state.toolUses.clear();
  state.calls = undefined;
}
