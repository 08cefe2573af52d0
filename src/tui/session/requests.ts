// Opens and closes requests. A request opens by itself, so that its keys work at once, but in a daemon session only while
// nothing is being written, and where nothing else can be done meanwhile (`modal`) always. One that opened by itself takes
// no key that was pressed before it could be read.

import type { RequestRow } from "../../client/view/types.ts";
import { isEmpty } from "../composer/editor.ts";
import { getFocused, getMode, getWaiting, makeRequestKey, omit, showNotice, step } from "./state.ts";
import type { SessionUi, Step, UiContext } from "./ui-types.ts";

/** Keys this soon after typing, or after it opened by itself, were not meant for it; longer than the delay of a held key. */
const TYPING_MS = 400;
const OPENED_MS = 700;
/** Smaller terminals may have no room for a request and its choices. */
const SMALL_ROWS = 9;

export function moveToRequest(ui: SessionUi, by: 1 | -1): Step {
  const rows = getWaiting(ui);
  const at = rows.findIndex(({ request_id }) => request_id === ui.focus);
  const next = at < 0 ? 0 : (at + by + rows.length) % rows.length;
  const row = rows[next];
  if (row === undefined) return step(showNotice(ui, "info", "no pending requests"));
  return openRequest(ui, row, { isByItself: false });
}

/** `isByItself`: no key opened it. */
export function openRequest(ui: SessionUi, row: RequestRow, { isByItself }: { isByItself: boolean }): Step {
  const isSame = ui.focus === row.request_id;
  const turned: SessionUi = {
    ...omit(ui, ...(isSame ? [] : (["drawn"] as const)), ...(isByItself ? [] : (["opened_ms"] as const))),
    mode: getMode(row),
    focus: row.request_id,
    ...(isByItself ? { opened_ms: ui.now_ms } : {}),
  };
  const isKnown = ui.wholes.get(row.request_id)?.shown_hash === row.shown_hash;
  return row.is_cut && !isKnown ? step(turned, { kind: "whole", row }) : step(turned);
}

/** After a view update: the open request may be closed or changed, or the first one may have arrived. */
export function followRequests(before: SessionUi, ui: SessionUi, context: UiContext): Step {
  const settled = forgetAnswered(ui);
  const row = getFocused(settled);
  if (settled.focus !== undefined && row === undefined) {
    const gone = { ...omit(settled, "focus", "drawn"), mode: "chat" } as const;
    const isOurs = ui.answered.has(settled.focus);
    if (isOurs) return openNext(gone, context);
    const known = showNotice(gone, "warn", goneText(ui, settled.focus));
    // A user who interrupted the turn knows why it is closed, and may type at once.
    return openNext(ui.armed === undefined ? { ...known, startled_ms: ui.now_ms } : known, context);
  }
  const shown = getFocused(before);
  if (row !== undefined && shown !== undefined && row.shown_hash !== shown.shown_hash) {
    const changed = showNotice(omit(settled, "drawn"), "warn", "the request changed: read it again");
    return openRequest(changed, row, { isByItself: true });
  }
  return openNext(settled, context);
}

/** Opens the oldest request unless one is open, the user left it, or text is being written. */
export function openNext(ui: SessionUi, { requestFocus }: Pick<UiContext, "requestFocus">): Step {
  const [first] = getWaiting(ui);
  if (ui.focus !== undefined || first === undefined) return step(ui);
  const isTyping = !isEmpty(ui.editor) || ui.now_ms - ui.typed_ms < TYPING_MS;
  const isBusy = isTyping || ui.overlay !== undefined || ui.left === first.request_id;
  return requestFocus === "asked" && isBusy ? step(ui) : openRequest(ui, first, { isByItself: true });
}

function goneText({ view }: SessionUi, request_id: string): string {
  const entry = view.entries.findLast(
    (one) => one.kind === "request" && one.request.request_id === request_id,
  );
  const status = entry?.kind === "request" ? entry.request.status : "";
  const words: Readonly<Record<string, string>> = {
    resolved: "answered elsewhere",
    expired: "expired",
    orphaned: "its agent has exited",
    withdrawn: "withdrawn by the agent",
  };
  return `request closed: ${words[status] ?? "no longer pending"}`;
}

/** Drops state of requests that are no longer listed. */
function forgetAnswered(ui: SessionUi): SessionUi {
  const ids = new Set(ui.view.requests.map(({ request_id }) => request_id));
  const isStale = [...ui.answered, ...ui.asked.keys()].some((id) => !ids.has(id));
  if (!isStale) return ui;
  return {
    ...ui,
    answered: new Set([...ui.answered].filter((id) => ids.has(id))),
    asked: new Map([...ui.asked].filter(([id]) => ids.has(id))),
    wholes: new Map([...ui.wholes].filter(([id]) => ids.has(id))),
  };
}

/** Why this key cannot answer the request; undefined if it can. */
export function explainNotYet(ui: SessionUi, row: RequestRow): string | undefined {
  if (row.is_cut) return "still loading the rest of the request";
  if (ui.drawn !== makeRequestKey(row) && ui.size.rows < SMALL_ROWS) {
    return "the terminal is too small to show the request; enlarge it";
  }
  if (ui.drawn !== makeRequestKey(row)) return "the request was not on screen yet: read it, then press again";
  if (ui.opened_ms === undefined || isAnswering(ui, row)) return undefined;
  const isEarly = ui.now_ms - ui.opened_ms < OPENED_MS;
  if (!isEarly && ui.now_ms - ui.typed_ms >= TYPING_MS) return undefined;
  return "the request opened while you were typing: read it, then press again";
}

/** The user has already acted on it, so it was seen. */
function isAnswering(ui: SessionUi, row: RequestRow): boolean {
  return ui.asked.get(row.request_id)?.hash === row.shown_hash;
}
