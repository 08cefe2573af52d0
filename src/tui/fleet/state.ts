// What the list shows and what keys do to it. Pure: (state, key) → state and what is to be done; screen.tsx does it.
import { emptyFleet, type Fleet, type FleetRow, fleetRows } from "../../client/view/fleet.ts";
import type { SessionView } from "../../client/view/types.ts";
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, wholeText, withText } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import { type Form, formKey, newForm, type SpawnOrder } from "./form.ts";
import { fleetAction, typedOf } from "./keys.ts";
import { signOf } from "./signs.ts";

export type Mode =
  | { kind: "list" }
  | { kind: "filter" }
  | { kind: "rename"; session_id: string; editor: Editor }
  | { kind: "confirm"; what: "stop" | "remove"; session_id: string }
  | { kind: "form"; form: Form }
  | { kind: "help"; top: number };

export interface FleetState {
  fleet: Fleet;
  /** What is listed, with the filter. */
  rows: readonly FleetRow[];
  /** The session that is marked: it stays marked wherever it goes. */
  selected: string | undefined;
  /** Where it stands among the rows. */
  index: number;
  filter: Editor;
  hidesStopped: boolean;
  mode: Mode;
  message?: { level: "info" | "error"; text: string };
}

export type Effect =
  | { kind: "open" | "interrupt" | "stop" | "remove"; session_id: string }
  | { kind: "rename"; session_id: string; name: string }
  | { kind: "spawn"; order: SpawnOrder }
  | { kind: "leave" | "suspend" | "repaint" | "backends" };

export interface Step {
  state: FleetState;
  effects: readonly Effect[];
}

export interface KeyContext {
  /** How many rows a page has. */
  page: number;
  cwd: string;
}

export const FIRST_STATE: FleetState = {
  fleet: emptyFleet(),
  rows: [],
  selected: undefined,
  index: 0,
  filter: EMPTY_EDITOR,
  hidesStopped: false,
  mode: { kind: "list" },
};

export function withFleet(state: FleetState, fleet: Fleet): FleetState {
  return listed({ ...state, fleet });
}

export function selectedSession({ rows, index }: FleetState): SessionView | undefined {
  return rows[index]?.session;
}

export function onKey(before: FleetState, input: Input, context: KeyContext): Step {
  // What was said is read when the next key comes.
  const { message: _read, ...state } = before;
  if (input.kind === "key" && input.chord === "ctrl-l") return does(state, { kind: "repaint" });
  if (input.kind === "key" && input.chord === "ctrl-z") return does(state, { kind: "suspend" });
  switch (state.mode.kind) {
    case "list":
      return onListKey(state, input, context);
    case "filter":
      return onFilterKey(state, input);
    case "rename":
      return onRenameKey(state, state.mode, input);
    case "confirm":
      return onConfirmKey(state, state.mode, input);
    case "form":
      return onFormKey(state, state.mode.form, input);
    case "help":
      return onHelpKey(state, state.mode.top, input);
  }
}

function onListKey(state: FleetState, input: Input, context: KeyContext): Step {
  const session = selectedSession(state);
  switch (fleetAction(input)) {
    case "up":
      return only(moved(state, state.index - 1));
    case "down":
      return only(moved(state, state.index + 1));
    case "page_up":
      return only(moved(state, state.index - context.page));
    case "page_down":
      return only(moved(state, state.index + context.page));
    case "first":
      return only(moved(state, 0));
    case "last":
      return only(moved(state, state.rows.length - 1));
    case "next_waiting":
      return only(toNextWaiting(state));
    case "filter":
      return only({ ...state, mode: { kind: "filter" } });
    case "hide_stopped":
      return only(listed({ ...state, hidesStopped: !state.hidesStopped }));
    case "new":
      return does(inMode(state, { kind: "form", form: newForm(context.cwd) }), {
        kind: "backends",
      });
    case "help":
      return only(inMode(state, { kind: "help", top: 0 }));
    case "escape":
      return only(listed({ ...state, filter: EMPTY_EDITOR }));
    case "leave":
      return does(state, { kind: "leave" });
    case "open":
      return session === undefined
        ? only(state)
        : does(state, { kind: "open", session_id: session.session_id });
    case "interrupt":
      return session === undefined ? only(state) : interrupt(state, session);
    case "stop":
      return session === undefined ? only(state) : stop(state, session);
    case "remove":
      return session === undefined ? only(state) : confirm(state, "remove", session);
    case "rename":
      return session === undefined ? only(state) : rename(state, session);
    default:
      return only(state);
  }
}

function interrupt(state: FleetState, { turn, session_id }: SessionView): Step {
  if (turn === undefined) return only(said(state, "nothing is running there"));
  return does(state, { kind: "interrupt", session_id });
}

/** Where a turn would be cut the person is asked. */
function stop(state: FleetState, session: SessionView): Step {
  if (!session.running) return only(said(state, "its agent is not running"));
  if (session.turn !== undefined) return confirm(state, "stop", session);
  return does(state, { kind: "stop", session_id: session.session_id });
}

function confirm(state: FleetState, what: "stop" | "remove", { session_id }: SessionView): Step {
  return only(inMode(state, { kind: "confirm", what, session_id }));
}

function rename(state: FleetState, { session_id, name }: SessionView): Step {
  return only(inMode(state, { kind: "rename", session_id, editor: withText(EMPTY_EDITOR, name ?? "") }));
}

/** The list follows as one types; Enter keeps the filter, Escape takes it away. */
function onFilterKey(state: FleetState, input: Input): Step {
  const typed = typedOf(input);
  if (typed === "enter") return only(inMode(state, { kind: "list" }));
  if (typed === "escape" || typed === "ctrl-c")
    return only(listed({ ...state, filter: EMPTY_EDITOR, mode: { kind: "list" } }));
  if (typed === "up") return only(moved(state, state.index - 1));
  if (typed === "down") return only(moved(state, state.index + 1));
  if (typed === "backspace" && state.filter.text === "") return only(inMode(state, { kind: "list" }));
  const filter = editWith(state.filter, input, true) ?? state.filter;
  return only(filter === state.filter ? state : listed({ ...state, filter }));
}

function onRenameKey(state: FleetState, mode: Extract<Mode, { kind: "rename" }>, input: Input): Step {
  const typed = typedOf(input);
  if (typed === "escape" || typed === "ctrl-c") return only(inMode(state, { kind: "list" }));
  const { session_id, editor } = mode;
  if (typed === "enter")
    return does(inMode(state, { kind: "list" }), {
      kind: "rename",
      session_id,
      name: wholeText(editor).trim(),
    });
  return only(inMode(state, { ...mode, editor: editWith(editor, input, true) ?? editor }));
}

/** Only `y` is yes: a key that was meant for the list must not forget a session. */
function onConfirmKey(state: FleetState, mode: Extract<Mode, { kind: "confirm" }>, input: Input): Step {
  const list = inMode(state, { kind: "list" });
  if (input.kind !== "text" || input.text !== "y") return only(list);
  return does(list, { kind: mode.what, session_id: mode.session_id });
}

function onFormKey(state: FleetState, before: Form, input: Input): Step {
  const result = formKey(before, input);
  if (result === "closed") return only(inMode(state, { kind: "list" }));
  const { form, order } = result;
  const next = inMode(state, { kind: "form", form });
  return order === undefined ? only(next) : does(next, { kind: "spawn", order });
}

function onHelpKey(state: FleetState, top: number, input: Input): Step {
  const action = fleetAction(input);
  const by = { up: -1, down: 1, page_up: -10, page_down: 10 }[String(action)];
  if (by === undefined) return only(inMode(state, { kind: "list" }));
  return only(inMode(state, { kind: "help", top: Math.max(0, top + by) }));
}

function toNextWaiting(state: FleetState): FleetState {
  const { rows, index } = state;
  const waits = (at: number): boolean => (rows[at]?.session.pending_requests ?? 0) > 0;
  for (let by = 1; by <= rows.length; by += 1) {
    const at = (index + by) % rows.length;
    if (waits(at)) return moved(state, at);
  }
  return said(state, "nothing waits for you");
}

/** The rows anew; the mark stays on its session, or where that was. */
function listed(state: FleetState): FleetState {
  const words = state.filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = fleetRows(state.fleet).filter(
    ({ session, isWaiting }) =>
      (!state.hidesStopped || isWaiting || session.failed || session.activity_state !== "stopped") &&
      words.every((word) => textOf(session).includes(word)),
  );
  const found = rows.findIndex(({ session }) => session.session_id === state.selected);
  return moved({ ...state, rows }, found === -1 ? state.index : found);
}

function textOf(session: SessionView): string {
  const { name, title, provider, backend, model, cwd, session_id } = session;
  const parts = [name, title, provider, backend, model, cwd, session_id, signOf(session).word];
  return parts.join(" ").toLowerCase();
}

function moved(state: FleetState, to: number): FleetState {
  const index = Math.max(0, Math.min(state.rows.length - 1, to));
  // While nothing is listed the mark is remembered.
  const selected = state.rows[index]?.session.session_id ?? state.selected;
  return { ...state, index, selected };
}

export function said(state: FleetState, text: string, level: "info" | "error" = "info"): FleetState {
  return { ...state, message: { level, text } };
}

export function inMode(state: FleetState, mode: Mode): FleetState {
  return { ...state, mode };
}

function only(state: FleetState): Step {
  return { state, effects: [] };
}

function does(state: FleetState, ...effects: Effect[]): Step {
  return { state, effects };
}
