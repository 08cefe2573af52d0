// The frames of a session's stream by their type. One that nobody knows changes nothing.
import type { WireFrame } from "../frames.ts";
import type { Draft, Moment } from "./draft.ts";
import { logText } from "./notice-words.ts";
import { reduceNotice, tell } from "./reduce-notices.ts";
import { reduceSign } from "./reduce-signs.ts";
import { closeBlocks, reduceDelta, reduceMessage, settleOthers } from "./reduce-texts.ts";
import { endTool, reduceToolUse, setAgent } from "./reduce-tools.ts";
import { assumeTurn, reduceEcho, reduceInit, reduceResult } from "./reduce-turns.ts";
import { stringOf, wordOf } from "./values.ts";

type Reduce = (draft: Draft, frame: WireFrame, moment: Moment) => void;

const REDUCE: ReadonlyMap<unknown, Reduce> = new Map<unknown, Reduce>([
  ["agent.system_init", reduceInit],
  // An empty piece is none, wherever a text is cut.
  ["agent.delta", onlyIf(isPiece, doing(reduceDelta))],
  ["agent.message", doing(reduceMessage)],
  [
    "agent.tool_use",
    doing((draft, frame, moment) => {
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
      tell(draft, moment, { level: "info", category: type, text: logText(stringOf(line) ?? "") }),
  ],
  ["blemeesd.error", errorNotice],
  ["blemeesd.replay_gap", (draft, frame, moment) => reduceSign(draft, "gap", frame, moment)],
  ["blemeesd.catching_up", (draft, frame, moment) => reduceSign(draft, "catching_up", frame, moment)],
  ["blemeesd.session_closed", (draft, frame, moment) => reduceSign(draft, "closed", frame, moment)],
  [
    "blemeesd.session_taken",
    (draft, { type }, moment) =>
      tell(draft, moment, { level: "warn", category: type, text: "another program drives it now" }),
  ],
  [
    "client.message_lost",
    (draft, { type, message }, moment) =>
      tell(draft, moment, { level: "warn", category: type, text: stringOf(message) ?? "" }),
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
  return wordOf(text) !== undefined || wordOf(partial_json) !== undefined;
}

function onlyIf(isMeant: (frame: WireFrame) => boolean, reduce: Reduce): Reduce {
  return (draft, frame, moment) => {
    if (isMeant(frame)) reduce(draft, frame, moment);
  };
}

/** The agent is at work: a turn runs, and a sub-agent if it is one. */
function doing(reduce: Reduce): Reduce {
  return (draft, frame, moment) => {
    assumeTurn(draft);
    if (moment.parent !== undefined) setAgent(draft, moment.parent, undefined);
    reduce(draft, frame, moment);
  };
}

function reduceToolResult(draft: Draft, frame: WireFrame, moment: Moment): void {
  endTool(draft, frame, moment);
  const id = wordOf(frame["tool_use_id"]);
  // Behind a result begins another message, and with it its blocks are counted anew.
  closeBlocks(
    draft,
    moment.at_ms,
    ({ parent, item_id }) => parent === moment.parent && item_id === undefined,
  );
  // The sub-agent that it was has said all.
  if (id !== undefined) closeBlocks(draft, moment.at_ms, ({ parent }) => parent === id);
}

function errorNotice(draft: Draft, { code, message, type }: WireFrame, moment: Moment): void {
  if (code === "backend_crashed") draft.memory.hasCrashed = true;
  const text = [wordOf(code) ?? "error", ...(wordOf(message) === undefined ? [] : [wordOf(message)])].join(
    ": ",
  );
  tell(draft, moment, { level: "error", category: type, text });
}
