// State of the list. Pure: (state, key) → state and effects, which screen.ts performs.
import { createFleet, type Fleet, type FleetOrder } from "../../client/view/fleet.ts";
import type { Answer, RequestRow, SessionView } from "../../client/view/types.ts";
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, expandText, setText } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import { type Arranged, arrangeFleet, NOTHING, stepFilter } from "./arrange.ts";
import { createForm, type Form, onFormInput, type SpawnOrder } from "./form.ts";
import { findFleetAction, getTyped } from "./keys.ts";
import { diffLabels, formatLabels, type LabelChange } from "./labels.ts";
import { chooseAccept, findPreviewed, listPending, type PendingState, type Shown } from "./pending.ts";

export type FleetMode =
  | { kind: "list" }
  | { kind: "filter" }
  | { kind: "rename"; session_id: string; editor: Editor }
  /** `before`: the labels when editing began. */
  | { kind: "labels"; session_id: string; editor: Editor; before: readonly string[] }
  | { kind: "confirm"; what: "stop" | "remove"; session_id: string }
  | { kind: "form"; form: Form }
  | { kind: "help"; top: number };

export interface FleetState extends PendingState, Arranged {
  /** Stays selected when it moves. */
  selected: string | undefined;
  /** Its index in `rows`. */
  index: number;
  filter: Editor;
  order: FleetOrder;
  isGrouped: boolean;
  hidesStopped: boolean;
  now_ms: number;
  mode: FleetMode;
  message?: { level: "info" | "error"; text: string };
}

export type FleetEffect =
  | { kind: "open" | "interrupt" | "stop" | "remove"; session_id: string }
  | { kind: "rename"; session_id: string; name: string }
  | { kind: "label"; session_id: string; change: LabelChange }
  | { kind: "archive"; session_id: string; archived: boolean }
  | { kind: "respond"; request: RequestRow; answer: Answer }
  /** Opens the inbox, at this request. */
  | { kind: "inbox"; request_id?: string }
  /** Searches what was said in all sessions. */
  | { kind: "search"; text: string }
  | { kind: "spawn"; order: SpawnOrder }
  | { kind: "leave" | "suspend" | "repaint" | "backends" | "outside" };

export interface FleetStep {
  state: FleetState;
  effects: readonly FleetEffect[];
}

export interface KeyContext {
  /** Rows per page. */
  page: number;
  cwd: string;
  /** `makeRequestKey` of the request that is on the screen in full, and whether there was time to read it. */
  shown?: Shown | undefined;
}

export const FIRST_STATE: FleetState = {
  ...NOTHING,
  fleet: createFleet(),
  selected: undefined,
  index: 0,
  filter: EMPTY_EDITOR,
  order: "attention",
  isGrouped: false,
  hidesStopped: false,
  now_ms: 0,
  answered: new Set(),
  mode: { kind: "list" },
};

export function setFleet(state: FleetState, fleet: Fleet): FleetState {
  const answered = new Set([...state.answered].filter((id) => fleet.requests.has(id)));
  return updateRows({ ...state, fleet, answered });
}

/** The time that ages are counted to. */
export function setTime(state: FleetState, now_ms: number): FleetState {
  return { ...state, now_ms };
}

/** Its answer did not arrive. */
export function setPending(state: FleetState, { request_id }: RequestRow): FleetState {
  return { ...state, answered: new Set([...state.answered].filter((id) => id !== request_id)) };
}

export function getSelectedSession({ rows, index }: FleetState): SessionView | undefined {
  return rows[index]?.session;
}

export function onKey(before: FleetState, input: Input, context: KeyContext): FleetStep {
  // A message lasts until the next key.
  const { message: _read, ...state } = before;
  if (input.kind === "key" && input.chord === "ctrl-l") return step(state, { kind: "repaint" });
  if (input.kind === "key" && input.chord === "ctrl-z") return step(state, { kind: "suspend" });
  switch (state.mode.kind) {
    case "list":
      return onListKey(state, input, context);
    case "filter":
      return onFilterKey(state, input);
    case "rename":
      return onRenameKey(state, state.mode, input);
    case "labels":
      return onLabelsKey(state, state.mode, input);
    case "confirm":
      return onConfirmKey(state, state.mode, input);
    case "form":
      return onFormKey(state, state.mode.form, input);
    case "help":
      return onHelpKey(state, state.mode.top, input);
  }
}

function onListKey(state: FleetState, input: Input, context: KeyContext): FleetStep {
  const session = getSelectedSession(state);
  const action = findFleetAction(input);
  switch (action) {
    case "up":
      return step(select(state, state.index - 1));
    case "down":
      return step(select(state, state.index + 1));
    case "page_up":
      return step(select(state, state.index - context.page));
    case "page_down":
      return step(select(state, state.index + context.page));
    case "first":
      return step(select(state, 0));
    case "last":
      return step(select(state, state.rows.length - 1));
    case "accept":
      return accept(state, context.shown);
    case "decide": {
      const { request_id } = findPreviewed(state) ?? listPending(state)[0] ?? {};
      if (request_id === undefined) return step(showMessage(state, "no pending requests"));
      return step(state, { kind: "inbox", request_id });
    }
    case "inbox":
    case "outside":
      return step(state, { kind: action });
    case "next_waiting":
      return step(selectNextWaiting(state));
    case "filter":
      return step({ ...state, mode: { kind: "filter" } });
    case "search":
      return step(state, { kind: "search", text: expandText(state.filter) });
    case "next_filter":
      return step(updateRows({ ...state, filter: setText(EMPTY_EDITOR, stepFilter(state.filter.text)) }));
    case "hide_stopped":
      return step(updateRows({ ...state, hidesStopped: !state.hidesStopped }));
    case "group":
      return step(updateRows({ ...state, isGrouped: !state.isGrouped }));
    case "order":
      return step(changeOrder(state));
    case "new":
      return step(setMode(state, { kind: "form", form: createForm(context.cwd) }), {
        kind: "backends",
      });
    case "help":
      return step(setMode(state, { kind: "help", top: 0 }));
    case "escape":
      return step(updateRows({ ...state, filter: EMPTY_EDITOR }));
    case "leave":
      return step(state, { kind: "leave" });
    case "open":
      return session === undefined
        ? step(state)
        : step(state, { kind: "open", session_id: session.session_id });
    case "interrupt":
      return session === undefined ? step(state) : interrupt(state, session);
    case "stop":
      return session === undefined ? step(state) : stop(state, session);
    case "remove":
      return session === undefined ? step(state) : confirm(state, "remove", session);
    case "rename":
      return session === undefined ? step(state) : rename(state, session);
    case "labels":
      return session === undefined ? step(state) : editLabels(state, session);
    case "archive":
      return session === undefined ? step(state) : archive(state, session);
    default:
      return step(state);
  }
}

function interrupt(state: FleetState, { turn, session_id }: SessionView): FleetStep {
  if (turn === undefined) return step(showMessage(state, "no turn is running"));
  return step(state, { kind: "interrupt", session_id });
}

function accept(state: FleetState, shown: Shown | undefined): FleetStep {
  const request = findPreviewed(state);
  if (request === undefined)
    return step(showMessage(state, "no pending request of this session: a opens the oldest one"));
  const accepted = chooseAccept(request, shown);
  if ("why" in accepted) return step(showMessage(state, `not accepted: ${accepted.why}`));
  const { request_id } = request;
  const next = { ...state, answered: new Set(state.answered).add(request_id) };
  return step(next, { kind: "respond", request, answer: accepted.answer });
}

/** Asks first if a turn is running. */
function stop(state: FleetState, session: SessionView): FleetStep {
  if (!session.running) return step(showMessage(state, "the agent is not running"));
  if (session.turn !== undefined) return confirm(state, "stop", session);
  return step(state, { kind: "stop", session_id: session.session_id });
}

function confirm(state: FleetState, what: "stop" | "remove", { session_id }: SessionView): FleetStep {
  return step(setMode(state, { kind: "confirm", what, session_id }));
}

function rename(state: FleetState, { session_id, name }: SessionView): FleetStep {
  return step(setMode(state, { kind: "rename", session_id, editor: setText(EMPTY_EDITOR, name ?? "") }));
}

function editLabels(state: FleetState, { session_id, labels: before = [] }: SessionView): FleetStep {
  const editor = setText(EMPTY_EDITOR, formatLabels(before));
  return step(setMode(state, { kind: "labels", session_id, editor, before }));
}

function archive(state: FleetState, { session_id, archived_at_ms }: SessionView): FleetStep {
  return step(state, { kind: "archive", session_id, archived: archived_at_ms === undefined });
}

function changeOrder(state: FleetState): FleetState {
  const order = state.order === "attention" ? "created" : "attention";
  const words = order === "created" ? "newest first: no row moves" : "by attention: what waits first";
  return showMessage(updateRows({ ...state, order }), words);
}

/** Filters while typing; Enter keeps the filter, Escape clears it. */
function onFilterKey(state: FleetState, input: Input): FleetStep {
  const typed = getTyped(input);
  if (typed === "enter") return step(setMode(state, { kind: "list" }));
  if (typed === "escape" || typed === "ctrl-c")
    return step(updateRows({ ...state, filter: EMPTY_EDITOR, mode: { kind: "list" } }));
  // Names did not help: the same text in what was said.
  if (typed === "tab") {
    const list = updateRows({ ...state, filter: EMPTY_EDITOR, mode: { kind: "list" } });
    return step(list, { kind: "search", text: expandText(state.filter) });
  }
  if (typed === "up") return step(select(state, state.index - 1));
  if (typed === "down") return step(select(state, state.index + 1));
  if (typed === "backspace" && state.filter.text === "") return step(setMode(state, { kind: "list" }));
  const filter = editWith(state.filter, input, true) ?? state.filter;
  return step(filter === state.filter ? state : updateRows({ ...state, filter }));
}

function onRenameKey(
  state: FleetState,
  mode: Extract<FleetMode, { kind: "rename" }>,
  input: Input,
): FleetStep {
  const typed = getTyped(input);
  if (typed === "escape" || typed === "ctrl-c") return step(setMode(state, { kind: "list" }));
  const { session_id, editor } = mode;
  if (typed === "enter")
    return step(setMode(state, { kind: "list" }), {
      kind: "rename",
      session_id,
      name: expandText(editor).trim(),
    });
  return step(setMode(state, { ...mode, editor: editWith(editor, input, true) ?? editor }));
}

function onLabelsKey(
  state: FleetState,
  mode: Extract<FleetMode, { kind: "labels" }>,
  input: Input,
): FleetStep {
  const typed = getTyped(input);
  const list = setMode(state, { kind: "list" });
  if (typed === "escape" || typed === "ctrl-c") return step(list);
  const { session_id, editor, before } = mode;
  if (typed !== "enter")
    return step(setMode(state, { ...mode, editor: editWith(editor, input, true) ?? editor }));
  const change = diffLabels(before, expandText(editor));
  return change === undefined ? step(list) : step(list, { kind: "label", session_id, change });
}

/** Only `y` confirms: a key meant for the list must not remove a session. */
function onConfirmKey(
  state: FleetState,
  mode: Extract<FleetMode, { kind: "confirm" }>,
  input: Input,
): FleetStep {
  const list = setMode(state, { kind: "list" });
  if (input.kind !== "text" || input.text !== "y") return step(list);
  return step(list, { kind: mode.what, session_id: mode.session_id });
}

function onFormKey(state: FleetState, before: Form, input: Input): FleetStep {
  const result = onFormInput(before, input);
  if (result === "closed") return step(setMode(state, { kind: "list" }));
  const { form, order } = result;
  const next = setMode(state, { kind: "form", form });
  return order === undefined ? step(next) : step(next, { kind: "spawn", order });
}

function onHelpKey(state: FleetState, top: number, input: Input): FleetStep {
  const action = findFleetAction(input);
  const by = { up: -1, down: 1, page_up: -10, page_down: 10 }[String(action)];
  if (by === undefined) return step(setMode(state, { kind: "list" }));
  return step(setMode(state, { kind: "help", top: Math.max(0, top + by) }));
}

function selectNextWaiting(state: FleetState): FleetState {
  const { rows, index } = state;
  const waits = (at: number): boolean => (rows[at]?.session.pending_requests ?? 0) > 0;
  for (let by = 1; by <= rows.length; by += 1) {
    const at = (index + by) % rows.length;
    if (waits(at)) return select(state, at);
  }
  return showMessage(state, "no pending requests");
}

/** Recomputes the rows; the selection stays on its session, or at its index. */
function updateRows(state: FleetState): FleetState {
  const { fleet, filter, order, isGrouped, hidesStopped, selected, all, now_ms } = state;
  const wish = { text: expandText(filter), order, isGrouped, hidesStopped };
  const arranged = arrangeFleet(all, fleet, wish, now_ms);
  const found = arranged.rows.findIndex(({ session }) => session.session_id === selected);
  return select({ ...state, ...arranged }, found === -1 ? state.index : found);
}

function select(state: FleetState, to: number): FleetState {
  const index = Math.max(0, Math.min(state.rows.length - 1, to));
  // An empty list keeps the selection.
  const selected = state.rows[index]?.session.session_id ?? state.selected;
  return { ...state, index, selected };
}

export function showMessage(state: FleetState, text: string, level: "info" | "error" = "info"): FleetState {
  return { ...state, message: { level, text } };
}

export function setMode(state: FleetState, mode: FleetMode): FleetState {
  return { ...state, mode };
}

function step(state: FleetState, ...effects: FleetEffect[]): FleetStep {
  return { state, effects };
}
