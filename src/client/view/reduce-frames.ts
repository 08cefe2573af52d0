// Reduces frames by type. Unknown types are ignored.
import { asString, asText } from "../../base/values.ts";
import type { WireFrame } from "../frames.ts";
import type { Draft, Moment } from "./draft.ts";
import { logText } from "./notice-text.ts";
import { addNotice, reduceNotice } from "./reduce-notices.ts";
import { reduceSign } from "./reduce-signs.ts";
import { closeBlocks, reduceDelta, reduceMessage, settleOthers } from "./reduce-texts.ts";
import { endTool, reduceToolUse, setAgent } from "./reduce-tools.ts";
import { assumeTurn, reduceEcho, reduceInit, reduceResult } from "./reduce-turns.ts";

type Reduce = (draft: Draft, frame: WireFrame, moment: Moment) => void;

const REDUCE: ReadonlyMap<unknown, Reduce> = new Map<unknown, Reduce>([
  ["agent.system_init", reduceInit],
  // Empty deltas are ignored, so that chunking has no effect.
  ["agent.delta", onlyIf(isPiece, duringTurn(reduceDelta))],
  ["agent.message", duringTurn(reduceMessage)],
  [
    "agent.tool_use",
    duringTurn((draft, frame, moment) => {
      settleOthers(draft, moment);
      reduceToolUse(draft, frame, moment);
    }),
  ],
  ["agent.tool_result", reduceToolResult],
  ["agent.user_echo", reduceEcho],
  ["agent.notice", reduceNotice],
  ["agent.result", reduceResult],
  [
    "blemeesd.stderr",
    (draft, { line, type }, moment) =>
      addNotice(draft, moment, { level: "info", category: type, text: logText(asString(line) ?? "") }),
  ],
  ["blemeesd.error", errorNotice],
  ["blemeesd.replay_gap", (draft, frame, moment) => reduceSign(draft, "gap", frame, moment)],
  ["blemeesd.catching_up", (draft, frame, moment) => reduceSign(draft, "catching_up", frame, moment)],
  ["blemeesd.session_closed", (draft, frame, moment) => reduceSign(draft, "closed", frame, moment)],
  [
    "blemeesd.session_taken",
    (draft, { type }, moment) =>
      addNotice(draft, moment, {
        level: "warn",
        category: type,
        text: "another client took over the session",
      }),
  ],
  [
    "client.message_lost",
    (draft, { type, message }, moment) =>
      addNotice(draft, moment, { level: "warn", category: type, text: asString(message) ?? "" }),
  ],
]);

export function reduceFrame(draft: Draft, frame: WireFrame, moment: Moment): void {
  const { seq } = draft.view;
  REDUCE.get(frame.type)?.(draft, frame, moment);
  const { catchUpTo } = draft.memory;
  if (catchUpTo !== undefined && seq >= catchUpTo) {
    delete draft.memory.catchUpTo;
    draft.view.link = { state: draft.view.link.state };
    draft.hasChanged = true;
  }
}

function isPiece({ text, partial_json }: WireFrame): boolean {
  return asText(text) !== undefined || asText(partial_json) !== undefined;
}

function onlyIf(isWanted: (frame: WireFrame) => boolean, reduce: Reduce): Reduce {
  return (draft, frame, moment) => {
    if (isWanted(frame)) reduce(draft, frame, moment);
  };
}

/** For frames that imply a running turn, and a sub-agent if they have a parent. */
function duringTurn(reduce: Reduce): Reduce {
  return (draft, frame, moment) => {
    assumeTurn(draft);
    if (moment.parent !== undefined) setAgent(draft, moment.parent, undefined);
    reduce(draft, frame, moment);
  };
}

function reduceToolResult(draft: Draft, frame: WireFrame, moment: Moment): void {
  endTool(draft, frame, moment);
  const id = asText(frame["tool_use_id"]);
  // A new message follows a result; its block indexes start over.
  closeBlocks(
    draft,
    moment.at_ms,
    ({ parent, item_id }) => parent === moment.parent && item_id === undefined,
  );
  // The sub-agent of this call is done.
  if (id !== undefined) closeBlocks(draft, moment.at_ms, ({ parent }) => parent === id);
}

function errorNotice(draft: Draft, { code, message, type }: WireFrame, moment: Moment): void {
  if (code === "backend_crashed") draft.memory.hasCrashed = true;
  const text = [asText(code) ?? "error", ...(asText(message) === undefined ? [] : [asText(message)])].join(
    ": ",
  );
  addNotice(draft, moment, { level: "error", category: type, text });
}
