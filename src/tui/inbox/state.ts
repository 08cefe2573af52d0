// State of the inbox: the pending requests of all sessions, one of them open. The open one is decided by the reducer of the
// session screen, to which each item is its first request. Pure: (state, event) → state and effects.
import type { Fleet } from "../../client/view/fleet.ts";
import { type InboxItem, type InboxKeys, listInbox } from "../../client/view/inbox.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import { emptyView } from "../../client/view.ts";
import type { FeedLayout } from "../rows/types.ts";
import type { Input, Size } from "../screen-types.ts";
import { isOpen } from "../session/questions.ts";
import { moveToRequest, openRequest } from "../session/requests.ts";
import { createUi, getAsked, getFocused, hasQuestions, omit } from "../session/state.ts";
import { reduce } from "../session/ui.ts";
import type { Effect, SessionUi, UiContext, UiEvent } from "../session/ui-types.ts";
import { findInboxAction, type InboxAction, type KeysInUse } from "./keys.ts";

export interface InboxUi {
  fleet: Fleet;
  /** Oldest first, without requests whose answer was sent. */
  items: readonly InboxItem[];
  /** Ids of these requests. */
  sent: ReadonlySet<string>;
  /** Speeds up grouping. */
  keys: InboxKeys;
  ui: SessionUi;
  /** The open item as it is on the screen: only these requests are answered, also if another one joined since. */
  drawn?: InboxItem;
  /** The first visible row of the help. */
  help?: number;
}

export type InboxEvent =
  | { kind: "input"; input: Input; at_ms: number }
  | { kind: "fleet"; fleet: Fleet; at_ms: number }
  /** This is on the screen now. */
  | { kind: "drawn"; request: string | undefined; item: InboxItem | undefined }
  /** These are pending still. */
  | { kind: "not_answered"; requests: readonly RequestRow[]; at_ms: number }
  | Extract<UiEvent, { kind: "tick" | "whole" | "report" | "size" }>;

export type InboxEffect =
  | { kind: "answer"; item: InboxItem; answer: Answer }
  | { kind: "whole"; row: RequestRow }
  | { kind: "open"; session_id: string }
  | { kind: "back" | "suspend" | "repaint" };

export interface InboxStep {
  inbox: InboxUi;
  effects: readonly InboxEffect[];
}

/** Geometry that keys depend on, from the last frame. */
export type InboxContext = Pick<UiContext, "requestScroll" | "requestHeight" | "editorWidth">;

export const FIRST_CONTEXT: InboxContext = { requestScroll: 0, requestHeight: 0, editorWidth: 70 };

/** `request_id`: opened first; otherwise the oldest. */
export function createInbox(fleet: Fleet, size: Size, now_ms: number, request_id?: string): InboxStep {
  const inbox: InboxUi = {
    ...{ fleet, items: [], sent: new Set(), keys: new WeakMap() },
    ui: createUi(emptyView(), size, now_ms),
  };
  const { inbox: filled } = setFleet(inbox, fleet, now_ms, FIRST_CONTEXT);
  const wanted = filled.items.find(({ requests }) => requests.some((row) => row.request_id === request_id));
  const [row] = (wanted ?? filled.items[0])?.requests ?? [];
  if (row === undefined) return step(filled);
  // A key opened it.
  const { ui, effects } = openRequest(filled.ui, row, { isByItself: false });
  return step({ ...filled, ui }, ...effects.flatMap((effect) => toEffects(effect, undefined)));
}

export function reduceInbox(inbox: InboxUi, event: InboxEvent, context: InboxContext): InboxStep {
  switch (event.kind) {
    case "input":
      return onInput(inbox, event.input, event.at_ms, context);
    case "fleet":
      return setFleet(inbox, event.fleet, event.at_ms, context);
    case "drawn": {
      const { drawn: _before, ...others } = inbox;
      const { item, request } = event;
      const { ui } = reduce(inbox.ui, { kind: "drawn", request }, widen(context));
      return step({ ...others, ui, ...(item === undefined ? {} : { drawn: item }) });
    }
    case "not_answered": {
      const pending = new Set(event.requests.map(({ request_id }) => request_id));
      const sent = new Set([...inbox.sent].filter((id) => !pending.has(id)));
      return setFleet({ ...inbox, sent }, inbox.fleet, event.at_ms, context);
    }
    default:
      return step({ ...inbox, ui: reduce(inbox.ui, event, widen(context)).ui });
  }
}

/** The open item as it is now. */
export function getOpenItem({ items, ui }: InboxUi): InboxItem | undefined {
  return items[findOpen(items, ui.focus)];
}

function onInput(inbox: InboxUi, input: Input, at_ms: number, context: InboxContext): InboxStep {
  if (inbox.help !== undefined) return step(onHelp(inbox, inbox.help, input));
  const { ui } = inbox;
  const row = getFocused(ui);
  const action = findInboxAction(input, findKeysInUse(ui, row));
  if (action !== undefined) return onAction(inbox, action, row);
  if (row === undefined) return step(inbox);
  const next = reduce(ui, { kind: "input", input, at_ms }, widen(context));
  const effects = next.effects.flatMap((effect) => toEffects(effect, inbox.drawn));
  // Nothing here has a feed to search.
  const after = { ...inbox, ui: omit(next.ui, "overlay") };
  const [answer] = effects.filter((effect) => effect.kind === "answer");
  if (answer === undefined) return step(after, ...effects);
  const sent = new Set([...inbox.sent, ...answer.item.requests.map(({ request_id }) => request_id)]);
  const moved = setFleet({ ...after, sent }, inbox.fleet, at_ms, context, findOpen(inbox.items, ui.focus));
  return step(moved.inbox, ...effects, ...moved.effects);
}

function onAction(inbox: InboxUi, action: InboxAction, row: RequestRow | undefined): InboxStep {
  switch (action) {
    case "next":
    case "previous": {
      const { ui, effects } = moveToRequest(inbox.ui, action === "next" ? 1 : -1);
      return step({ ...inbox, ui }, ...effects.flatMap((effect) => toEffects(effect, inbox.drawn)));
    }
    case "open":
      return row === undefined ? step(inbox) : step(inbox, { kind: "open", session_id: row.session_id });
    case "help":
      return step({ ...inbox, help: 0 });
    default:
      return step(inbox, { kind: action });
  }
}

/** Any key that does not scroll closes the help. */
function onHelp({ help: _open, ...inbox }: InboxUi, top: number, input: Input): InboxUi {
  const chord = input.kind === "key" ? input.chord : "";
  const by = { up: -1, down: 1, pageup: -10, pagedown: 10 }[chord];
  return by === undefined ? inbox : { ...inbox, help: Math.max(0, top + by) };
}

function findKeysInUse(ui: SessionUi, row: RequestRow | undefined): KeysInUse {
  if (row === undefined) return { isWriting: false, hasQuestions: false, hasField: false };
  const { reason, own, question } = getAsked(ui, row);
  const asked = row.payload.questions?.[question];
  const isFree = asked !== undefined && isOpen(asked);
  const hasField = reason !== undefined || (own !== undefined && !isFree);
  return { isWriting: hasField || isFree, hasQuestions: hasQuestions(row), hasField };
}

/** `at`: the place of an item that was just answered; the next one is opened there. */
function setFleet(
  inbox: InboxUi,
  fleet: Fleet,
  at_ms: number,
  context: InboxContext,
  at = Math.max(0, findOpen(inbox.items, inbox.ui.focus)),
): InboxStep {
  const sent = new Set([...inbox.sent].filter((id) => fleet.requests.has(id)));
  const pending = [...fleet.requests.values()].filter(({ request_id }) => !sent.has(request_id));
  const items = listInbox(pending, fleet.sessions, inbox.keys);
  const requests = items.flatMap(({ requests: [first] }) => first ?? []);
  const view = { ...inbox.ui.view, requests, link: fleet.link };
  const before = inbox.ui.focus;
  const next = reduce(inbox.ui, { kind: "view", view, at_ms }, widen(context));
  const after = { ...inbox, fleet, sent, items };
  const effects = next.effects.flatMap((effect) => toEffects(effect, undefined));
  const row = requests[at] ?? requests[0];
  const isOpenStill = before !== undefined && next.ui.focus === before;
  if (isOpenStill || row === undefined) return step({ ...after, ui: next.ui }, ...effects);
  const opened = openRequest(next.ui, row, { isByItself: true });
  return step(
    { ...after, ui: opened.ui },
    ...opened.effects.flatMap((effect) => toEffects(effect, undefined)),
  );
}

/** What is only done to a session has no meaning here. */
function toEffects(effect: Effect, drawn: InboxItem | undefined): InboxEffect[] {
  switch (effect.kind) {
    case "respond": {
      const { row, answer } = effect;
      const isDrawn = drawn?.requests[0]?.request_id === row.request_id;
      return [{ kind: "answer", item: isDrawn ? drawn : { requests: [row] }, answer }];
    }
    case "whole":
      return [{ kind: "whole", row: effect.row }];
    case "suspend":
    case "repaint":
      return [{ kind: effect.kind }];
    default:
      return [];
  }
}

function findOpen(items: readonly InboxItem[], focus: string | undefined): number {
  return items.findIndex(({ requests: [first] }) => first?.request_id === focus);
}

const NO_FEED: FeedLayout = {
  update: () => undefined,
  rowCount: 0,
  slice: () => [],
  findRow: () => undefined,
  findEntry: () => undefined,
  find: () => undefined,
};

function widen(context: InboxContext): UiContext {
  return {
    ...{ ...context, feed: NO_FEED, feedHeight: 1, commands: [], pickers: [] },
    ...{
      requestFocus: "modal",
      endsWithScreen: false,
      canGoBack: true,
      hasChanges: false,
      hasFiles: false,
      hasAgentCommands: false,
    },
  };
}

function step(inbox: InboxUi, ...effects: InboxEffect[]): InboxStep {
  return { inbox, effects };
}
