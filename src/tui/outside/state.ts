// State of the list of sessions that were started outside. Pure: (state, key) → state and effects.
import type { TranscriptsReply, TranscriptView } from "../../client/http/types.ts";
import type { Input } from "../screen-types.ts";
import { findOutsideAction, type OutsideAction } from "./keys.ts";

export interface OutsideUi {
  transcripts: readonly TranscriptView[];
  /** There are more. */
  next?: string;
  /** A page is being read. */
  isLoading: boolean;
  /** The conversation that is being continued. */
  adopting?: string;
  problem?: string;
  index: number;
  isHelp: boolean;
}

export type OutsideEffect =
  | { kind: "read" | "adopt"; transcript: TranscriptView }
  /** `after`: the next page; absent: from the start. */
  | { kind: "load"; after?: string }
  | { kind: "back" | "suspend" | "repaint" };

export interface OutsideStep {
  ui: OutsideUi;
  effects: readonly OutsideEffect[];
}

export const FIRST_OUTSIDE_UI: OutsideUi = { transcripts: [], isLoading: true, index: 0, isHelp: false };

/** `isMore`: the page after those that are known. */
export function addPage(ui: OutsideUi, page: TranscriptsReply, isMore: boolean): OutsideUi {
  const { next: _before, problem: _past, ...rest } = ui;
  const selected = ui.transcripts[ui.index]?.session_id;
  const transcripts = isMore ? [...ui.transcripts, ...page.transcripts] : page.transcripts;
  const found = transcripts.findIndex(({ session_id }) => session_id === selected);
  const next = page.next === undefined ? {} : { next: page.next };
  return select({ ...rest, transcripts, isLoading: false, ...next }, found === -1 ? ui.index : found);
}

export function showOutsideProblem(ui: OutsideUi, problem: string): OutsideUi {
  const { adopting: _failed, ...rest } = ui;
  return { ...rest, isLoading: false, problem };
}

/** `page`: visible rows. */
export function onOutsideInput(before: OutsideUi, input: Input, page: number): OutsideStep {
  const action = findOutsideAction(input);
  if (action === "suspend" || action === "repaint") return step(before, { kind: action });
  if (before.isHelp) return step({ ...before, isHelp: false });
  // A problem lasts until the next key.
  const { problem: _read, ...ui } = before;
  const transcript = ui.transcripts[ui.index];
  switch (action) {
    case undefined:
      return step(ui);
    case "back":
      return step(ui, { kind: "back" });
    case "help":
      return step({ ...ui, isHelp: true });
    case "reload":
      return ui.isLoading ? step(ui) : step({ ...ui, isLoading: true }, { kind: "load" });
    case "read":
      return transcript === undefined ? step(ui) : step(ui, { kind: "read", transcript });
    case "adopt":
      if (transcript === undefined || ui.adopting !== undefined) return step(ui);
      return step({ ...ui, adopting: transcript.session_id }, { kind: "adopt", transcript });
    default:
      return move(ui, action, page);
  }
}

type Move = Extract<OutsideAction, "up" | "down" | "page_up" | "page_down" | "first" | "last">;

function move(ui: OutsideUi, action: Move, page: number): OutsideStep {
  const by = { up: -1, down: 1, page_up: -page, page_down: page, first: -Infinity, last: Infinity }[action];
  const next = select(ui, ui.index + by);
  const isAtEnd = by > 0 && next.index >= ui.transcripts.length - 1;
  if (!isAtEnd || ui.next === undefined || ui.isLoading) return step(next);
  return step({ ...next, isLoading: true }, { kind: "load", after: ui.next });
}

function select(ui: OutsideUi, to: number): OutsideUi {
  return { ...ui, index: Math.max(0, Math.min(ui.transcripts.length - 1, to)) };
}

function step(ui: OutsideUi, ...effects: OutsideEffect[]): OutsideStep {
  return { ui, effects };
}
