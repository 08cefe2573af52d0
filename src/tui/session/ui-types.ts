// The state of a session's screen as data, what can happen to it and what it wants done. How it goes from one to the
// next is ui.ts; how it looks is frame.ts.
import type { Answer, RequestRow, View } from "../../client/view/types.ts";
import type { Choice } from "../../protocol/requests.ts";
import type { Editor } from "../composer/editor.ts";
import type { History } from "../composer/history.ts";
import type { PickerState } from "../picker/picker.ts";
import type { FeedLayout } from "../rows/types.ts";
import type { Input, Size } from "../screen-types.ts";
import type { DriverCommand, Picker, PickerOption } from "../types.ts";

/** What Enter means (sm#288): sends a message, decides a request, answers questions. */
export type Mode = "chat" | "approval" | "input";

export interface SessionUi {
  view: View;
  size: Size;
  now_ms: number;
  mode: Mode;
  editor: Editor;
  history: History;
  feed: FeedState;
  /** The request that is turned to; only in the modes that answer. */
  focus?: string;
  /** What is being done about each request, by its id. */
  asked: ReadonlyMap<string, Asked>;
  /** Requests whose answer is on its way. */
  answered: ReadonlySet<string>;
  /** Those that came cut, whole. */
  wholes: ReadonlyMap<string, RequestRow>;
  /** The request that stands on the screen, as `requestKey` names it: only that can be answered. */
  drawn?: string;
  overlay?: Overlay;
  notice?: Notice;
  armed?: { what: "interrupt" | "leave"; until_ms: number };
  /** The request went away while the person was at it: until they pause, what they type was meant for that. */
  startled_ms?: number;
  /** When the last key came. */
  typed_ms: number;
}

export interface FeedState {
  /** The row at the top, counted from where its entry begins; absent: the end is followed. */
  anchor?: { entry: string; offset: number };
  /** How many entries there were when the end was left. */
  seen: number;
  /** The entry that is marked. */
  focus?: string;
  /** Entries that are not as `isAllOpen` says. */
  turned: ReadonlySet<string>;
  isAllOpen: boolean;
  isLoading: boolean;
}

export interface Asked {
  /** Of what was shown when this began: another one begins anew. */
  hash: string;
  /** The marked choice. */
  marked: number;
  /** The reason for declining, while it is written; `choice` is what it is for. */
  reason?: { editor: Editor; choice: Choice };
  /** Which question; as many as there are: all are answered and shown once more. */
  question: number;
  answers: Readonly<Record<string, string | string[]>>;
  option: number;
  chosen: readonly number[];
  /** Own words, while they are written. */
  own?: Editor;
  /** Its details are shown instead of what is decided on. */
  isDetailed: boolean;
  /** How far what it says is scrolled. */
  scroll: number;
}

export type Overlay =
  | { kind: "help"; scroll: number }
  | { kind: "search"; editor: Editor; isTyping: boolean; row?: number; message?: string }
  | { kind: "picker"; picker: PickerState };

export interface Notice {
  level: "info" | "warn" | "error";
  text: string;
  until_ms: number;
}

export type UiEvent =
  | { kind: "input"; input: Input; at_ms: number }
  | { kind: "view"; view: View; at_ms: number }
  /** `scale`: by how much the entry at the top became longer. */
  | { kind: "size"; size: Size; scale: number }
  /** This request stands on the screen now. */
  | { kind: "drawn"; request: string | undefined }
  | { kind: "tick"; at_ms: number }
  | { kind: "send_failed"; text: string; message: string; at_ms: number }
  | { kind: "respond_failed"; request_id: string; message: string; at_ms: number }
  | { kind: "whole"; row: RequestRow }
  | { kind: "told"; level: Notice["level"]; text: string; at_ms: number }
  | { kind: "earlier"; isMore: boolean; at_ms: number }
  | { kind: "cancelled"; text: string; at_ms: number }
  | { kind: "picker"; key: string; options?: readonly PickerOption[]; message?: string };

export type Effect =
  | { kind: "send"; text: string; isNow: boolean }
  | { kind: "interrupt" }
  | { kind: "respond"; row: RequestRow; answer: Answer }
  | { kind: "whole"; row: RequestRow }
  | { kind: "cancel_queued"; message_id: string; text: string }
  | { kind: "earlier"; kept_from?: number }
  | { kind: "command"; name: string; rest: string }
  | { kind: "load_picker"; key: string }
  | { kind: "choose"; key: string; value: string; label: string }
  | { kind: "leave"; code: number }
  | { kind: "back" | "suspend" | "repaint" | "mouse" };

export interface Step {
  ui: SessionUi;
  effects: readonly Effect[];
}

/** What the state does not hold and the keys depend on. */
export interface UiContext {
  feed: FeedLayout;
  /** The rows that the feed has on the screen. */
  feedHeight: number;
  /** The width of the composer's text. */
  editorWidth: number;
  /** The most that a request's text can be scrolled. */
  requestScroll: number;
  /** The rows that it has on the screen. */
  requestHeight: number;
  commands: readonly Pick<DriverCommand, "name" | "summary" | "isAlways">[];
  pickers: readonly Pick<Picker, "key" | "title" | "takesText">[];
  requestFocus: "asked" | "modal";
  /** The session ends with the screen. */
  endsWithScreen: boolean;
  canGoBack: boolean;
}
