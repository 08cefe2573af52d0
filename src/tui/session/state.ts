// The beginning of a session's screen and what is asked of its state everywhere.

import type { Entry, RequestRow, View } from "../../client/view/types.ts";
import { EMPTY_EDITOR } from "../composer/editor.ts";
import { EMPTY_HISTORY } from "../composer/history.ts";
import type { Size } from "../screen-types.ts";
import { REQUEST_KINDS } from "./request-kinds.ts";
import type { Asked, Effect, Mode, Notice, SessionUi, Step } from "./ui-types.ts";

const NOTICE_MS = 6_000;
const ERROR_MS = 15_000;

export function createUi(view: View, size: Size, now_ms: number): SessionUi {
  return {
    view,
    size,
    now_ms,
    mode: "chat",
    editor: EMPTY_EDITOR,
    history: EMPTY_HISTORY,
    feed: { seen: 0, turned: new Set(), isAllOpen: false, isLoading: false },
    asked: new Map(),
    answered: new Set(),
    wholes: new Map(),
    typed_ms: 0,
  };
}

export function step(ui: SessionUi, ...effects: Effect[]): Step {
  return { ui, effects };
}

export function told(ui: SessionUi, level: Notice["level"], text: string): SessionUi {
  const until_ms = ui.now_ms + (level === "error" ? ERROR_MS : NOTICE_MS);
  return { ...ui, notice: { level, text, until_ms } };
}

/** Takes optional fields out, which cannot be set to undefined. */
export function without<Key extends "focus" | "drawn" | "overlay" | "notice" | "armed" | "startled_ms">(
  ui: SessionUi,
  ...keys: Key[]
): SessionUi {
  const next = { ...ui };
  for (const key of keys) delete next[key];
  return next;
}

/** What still waits for the person. */
export function waiting({ view, answered }: SessionUi): readonly RequestRow[] {
  return view.requests.filter(({ request_id }) => !answered.has(request_id));
}

/** The request that is turned to, whole where it is known whole. */
export function focused(ui: SessionUi): RequestRow | undefined {
  const row = waiting(ui).find(({ request_id }) => request_id === ui.focus);
  if (row?.is_cut === undefined) return row;
  const whole = ui.wholes.get(row.request_id);
  return whole?.shown_hash === row.shown_hash ? whole : row;
}

/** Another one as soon as anything that is shown of it changes. */
export function requestKey({ request_id, shown_hash, is_cut }: RequestRow): string {
  return `${request_id} ${shown_hash}${is_cut ? " cut" : ""}`;
}

export function modeOf({ request_type }: RequestRow): Mode {
  return REQUEST_KINDS[request_type] === "permission" ? "approval" : "input";
}

export function hasQuestions({ payload }: RequestRow): boolean {
  return (payload.questions?.length ?? 0) > 0;
}

export function askedOf(ui: SessionUi, row: RequestRow): Asked {
  const known = ui.asked.get(row.request_id);
  if (known?.hash === row.shown_hash) return known;
  return {
    hash: row.shown_hash,
    marked: safestChoice(row),
    question: 0,
    answers: {},
    option: 0,
    chosen: [],
    isDetailed: false,
    scroll: 0,
  };
}

export function withAsked(ui: SessionUi, row: RequestRow, asked: Asked): SessionUi {
  return { ...ui, asked: new Map(ui.asked).set(row.request_id, asked) };
}

/** Enter without having looked must not let anything happen. */
function safestChoice({ payload: { choices } }: RequestRow): number {
  for (const decision of ["decline", "cancel"]) {
    const at = choices.findIndex((choice) => choice.decision === decision);
    if (at >= 0) return at;
  }
  return Math.max(0, choices.length - 1);
}

export function isTurnRunning({ view }: SessionUi): boolean {
  return view.turn !== undefined || view.session?.turn !== undefined;
}

/** What can be folded, and whether it is at first. */
export function isFoldable(entry: Entry): boolean {
  return entry.kind === "tool" || entry.kind === "thinking" || entry.kind === "request";
}

export function isUnfolded({ feed: { turned, isAllOpen } }: Pick<SessionUi, "feed">, { id }: Entry): boolean {
  return turned.has(id) !== isAllOpen;
}
