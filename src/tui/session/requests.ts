// Turning to what waits for an answer, and away from it. For a session of the daemon only a key of the person does it
// (sm#288); where nothing else can be done meanwhile it happens by itself.
import type { RequestRow } from "../../client/view/types.ts";
import { focused, modeOf, requestKey, step, told, waiting, without } from "./state.ts";
import type { SessionUi, Step, UiContext } from "./ui-types.ts";

/** Somebody who was typing when it came did not mean it. */
const TYPING_MS = 400;
/** Below this there may be no room for a request and its choices. */
const SMALL_ROWS = 9;

export function turnTo(ui: SessionUi, by: 1 | -1): Step {
  const rows = waiting(ui);
  const at = rows.findIndex(({ request_id }) => request_id === ui.focus);
  const next = at < 0 ? 0 : (at + by + rows.length) % rows.length;
  const row = rows[next];
  if (row === undefined) return step(told(ui, "info", "no pending requests"));
  return turnToRow(ui, row);
}

function turnToRow(ui: SessionUi, row: RequestRow): Step {
  const isSame = ui.focus === row.request_id;
  const turned: SessionUi = {
    ...(isSame ? ui : without(ui, "drawn")),
    mode: modeOf(row),
    focus: row.request_id,
  };
  const isKnown = ui.wholes.get(row.request_id)?.shown_hash === row.shown_hash;
  return row.is_cut && !isKnown ? step(turned, { kind: "whole", row }) : step(turned);
}

/** After the view changed: the request may be gone, or another, or the first may have come. */
export function followRequests(before: SessionUi, ui: SessionUi, context: UiContext): Step {
  const settled = forgetAnswered(ui);
  const row = focused(settled);
  if (settled.focus !== undefined && row === undefined) {
    const gone = { ...without(settled, "focus", "drawn"), mode: "chat" } as const;
    const isOurs = ui.answered.has(settled.focus);
    if (isOurs) return modal(gone, context);
    const known = told(gone, "warn", goneText(ui, settled.focus));
    // Whoever interrupted the turn knows why, and may write at once.
    return modal(ui.armed === undefined ? { ...known, startled_ms: ui.now_ms } : known, context);
  }
  const shown = focused(before);
  if (row !== undefined && shown !== undefined && row.shown_hash !== shown.shown_hash) {
    const changed = told(
      without(settled, "drawn"),
      "warn",
      "the request changed while it was shown: read it again",
    );
    return turnToRow(changed, row);
  }
  return modal(settled, context);
}

function modal(ui: SessionUi, { requestFocus }: UiContext): Step {
  const [first] = waiting(ui);
  if (requestFocus !== "modal" || ui.focus !== undefined || first === undefined) return step(ui);
  return turnToRow(ui, first);
}

function goneText({ view }: SessionUi, request_id: string): string {
  const entry = view.entries.findLast(
    (one) => one.kind === "request" && one.request.request_id === request_id,
  );
  const status = entry?.kind === "request" ? entry.request.status : "withdrawn";
  const words: Readonly<Record<string, string>> = {
    resolved: "it was answered elsewhere",
    expired: "its time is up",
    orphaned: "the agent that asked is gone",
    withdrawn: "the agent took it back",
  };
  return `the request is gone: ${words[status] ?? "it waits no more"}`;
}

/** What the manager no longer lists needs no memory. */
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

/** Why the request cannot be answered by this key; undefined: it can. */
export function whyNotYet(ui: SessionUi, row: RequestRow, context: UiContext): string | undefined {
  if (row.is_cut) return "the rest of the request is being read";
  if (ui.drawn !== requestKey(row) && ui.size.rows < SMALL_ROWS) {
    return "too small to show the request: make the terminal larger";
  }
  if (ui.drawn !== requestKey(row)) return "the request was not on the screen yet: read it, then press again";
  if (context.requestFocus === "modal" && ui.now_ms - ui.typed_ms < TYPING_MS && !isAnswering(ui, row)) {
    return "the request came while you were typing: read it, then press again";
  }
  return undefined;
}

/** Something was done to it already: it was seen. */
function isAnswering(ui: SessionUi, row: RequestRow): boolean {
  return ui.asked.get(row.request_id)?.hash === row.shown_hash;
}
