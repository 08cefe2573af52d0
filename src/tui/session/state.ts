// Initial state of the session screen, and lookups on it.
import type { Entry, RequestRow, View } from "../../client/view/types.ts";
import type { REQUEST_TYPES, RequestType } from "../../protocol/requests.ts";
import { EMPTY_EDITOR } from "../composer/editor.ts";
import { EMPTY_HISTORY } from "../composer/history.ts";
import type { Size } from "../screen-types.ts";
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

export function showNotice(ui: SessionUi, level: Notice["level"], text: string): SessionUi {
  const until_ms = ui.now_ms + (level === "error" ? ERROR_MS : NOTICE_MS);
  return { ...ui, notice: { level, text, until_ms } };
}

/** Removes optional fields, which may not be set to undefined. */
export function omit<
  Key extends "completion" | "focus" | "drawn" | "overlay" | "notice" | "armed" | "startled_ms" | "opened_ms",
>(ui: SessionUi, ...keys: Key[]): SessionUi {
  const next = { ...ui };
  for (const key of keys) delete next[key];
  return next;
}

/** Requests not answered yet. */
export function getWaiting({ view, answered }: SessionUi): readonly RequestRow[] {
  return view.requests.filter(({ request_id }) => !answered.has(request_id));
}

/** The open request, in full if it was loaded. */
export function getFocused(ui: SessionUi): RequestRow | undefined {
  const row = getWaiting(ui).find(({ request_id }) => request_id === ui.focus);
  if (row?.is_cut === undefined) return row;
  const whole = ui.wholes.get(row.request_id);
  return whole?.shown_hash === row.shown_hash ? whole : row;
}

/** Changes as soon as anything shown of the request changes. */
export function makeRequestKey({ request_id, shown_hash, is_cut }: RequestRow): string {
  return `${request_id} ${shown_hash}${is_cut ? " cut" : ""}`;
}

export function getMode({ request_type }: RequestRow): Mode {
  return REQUEST_KINDS[request_type] === "permission" ? "approval" : "input";
}

export function hasQuestions({ payload }: RequestRow): boolean {
  return (payload.questions?.length ?? 0) > 0;
}

export function getAsked(ui: SessionUi, row: RequestRow): Asked {
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

export function setAsked(ui: SessionUi, row: RequestRow, asked: Asked): SessionUi {
  return { ...ui, asked: new Map(ui.asked).set(row.request_id, asked) };
}

/** Enter without looking must not allow anything. */
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

export function isFoldable(entry: Entry): boolean {
  return entry.kind === "tool" || entry.kind === "thinking" || entry.kind === "request";
}

export function isUnfolded({ feed: { turned, isAllOpen } }: Pick<SessionUi, "feed">, { id }: Entry): boolean {
  return turned.has(id) !== isAllOpen;
}

/** Here without loading the schemas. */
const REQUEST_KINDS: { readonly [Type in RequestType]: (typeof REQUEST_TYPES)[Type] } = {
  command: "permission",
  file_change: "permission",
  tool: "permission",
  permissions: "permission",
  plan: "permission",
  quota: "permission",
  budget: "permission",
  user_input: "input",
  elicitation: "input",
};
