// State, events and effects of the session screen. The reducer is ui.ts, the layout frame.ts.
import type { AgentCommand } from "../../client/http/types.ts";
import type { Answer, RequestRow, View } from "../../client/view/types.ts";
import type { FoundFile } from "../../protocol/files.ts";
import type { Choice } from "../../protocol/requests.ts";
import type { Editor } from "../composer/editor.ts";
import type { History } from "../composer/history.ts";
import type { PickerState } from "../picker/picker.ts";
import type { FeedLayout } from "../rows/types.ts";
import type { Input, Size } from "../screen-types.ts";
import type { Delivery, DriverCommand, Picker, PickerOption } from "../types.ts";

import type { CompletionState } from "./completion.ts";

/** What Enter does: send a message, decide a request, or answer questions. */
export type Mode = "chat" | "approval" | "input";

export interface SessionUi {
  view: View;
  size: Size;
  now_ms: number;
  mode: Mode;
  editor: Editor;
  history: History;
  feed: FeedState;
  /** The open request; only in `approval` and `input`. */
  focus?: string;
  /** When it opened by itself; absent if a key opened it. */
  opened_ms?: number;
  /** The request that the user left with Esc: it does not open by itself again. */
  left?: string;
  /** Answers in progress, by request id. */
  asked: ReadonlyMap<string, Asked>;
  /** Requests whose answer was sent. */
  answered: ReadonlySet<string>;
  /** Full versions of truncated requests. */
  wholes: ReadonlyMap<string, RequestRow>;
  /** `requestKey` of the request on the screen; only that one can be answered. */
  drawn?: string;
  overlay?: Overlay;
  /** The agent's own, as last reported. */
  agentCommands?: readonly AgentCommand[];
  /** What can be put in at the cursor. */
  completion?: CompletionState;
  notice?: Notice;
  armed?: { what: "interrupt" | "leave"; until_ms: number };
  /** The open request was closed while the user typed; input until the next pause was meant for it. */
  startled_ms?: number;
  /** Time of the last key. */
  typed_ms: number;
}

export interface FeedState {
  /** The top row, relative to its entry; absent while following the end. */
  anchor?: { entry: string; offset: number };
  /** Number of entries when the user scrolled up. */
  seen: number;
  /** The selected entry. */
  focus?: string;
  /** Entries folded differently from `isAllOpen`. */
  turned: ReadonlySet<string>;
  isAllOpen: boolean;
  isLoading: boolean;
}

export interface Asked {
  /** `shown_hash` at the start; a changed request starts over. */
  hash: string;
  /** The selected choice. */
  marked: number;
  /** The reason being typed, and the choice it belongs to. */
  reason?: { editor: Editor; choice: Choice };
  /** Index of the question; equal to their number during the final review. */
  question: number;
  answers: Readonly<Record<string, string | string[]>>;
  option: number;
  chosen: readonly number[];
  /** Free text being typed. */
  own?: Editor;
  /** Shows details instead of the request. */
  isDetailed: boolean;
  /** Scroll offset of the request. */
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
  /** `scale`: growth of the top entry. */
  | { kind: "size"; size: Size; scale: number }
  /** This request is on the screen now. */
  | { kind: "drawn"; request: string | undefined }
  | { kind: "tick"; at_ms: number }
  /** Scrolls to this entry and unfolds it. */
  | { kind: "place"; entry: string }
  | { kind: "send_failed"; text: string; message: string; at_ms: number }
  | { kind: "respond_failed"; request_id: string; message: string; at_ms: number }
  | { kind: "whole"; row: RequestRow }
  | { kind: "report"; level: Notice["level"]; text: string; at_ms: number }
  | { kind: "earlier"; isMore: boolean; at_ms: number }
  | { kind: "files"; query: string; files: readonly FoundFile[]; message?: string }
  | { kind: "agent_commands"; commands: readonly AgentCommand[] }
  | { kind: "cancelled"; text: string; at_ms: number }
  | { kind: "attached"; label: string }
  /** A pasted path was no image: it is text. */
  | { kind: "not_attached"; text: string }
  | { kind: "picker"; key: string; options?: readonly PickerOption[]; message?: string };

export type Effect =
  | { kind: "send"; text: string; how: Delivery }
  | { kind: "interrupt" }
  | { kind: "respond"; row: RequestRow; answer: Answer }
  | { kind: "whole"; row: RequestRow }
  | { kind: "cancel_queued"; message_id: string; text: string }
  | { kind: "earlier"; kept_from?: number }
  | { kind: "command"; name: string; rest: string }
  | { kind: "find_files"; query: string }
  /** Without a path: from the clipboard. */
  | { kind: "attach"; path?: string }
  | { kind: "load_picker"; key: string }
  | { kind: "choose"; key: string; value: string; label: string }
  | { kind: "leave"; code: number }
  | { kind: "back" | "suspend" | "repaint" | "mouse" | "changes" | "load_commands" };

export interface Step {
  ui: SessionUi;
  effects: readonly Effect[];
}

/** Inputs of the reducer outside its state. */
export interface UiContext {
  feed: FeedLayout;
  /** Visible feed rows. */
  feedHeight: number;
  /** Width of the composer's text. */
  editorWidth: number;
  /** Maximum scroll offset of the request. */
  requestScroll: number;
  /** Visible rows of the request. */
  requestHeight: number;
  commands: readonly Pick<DriverCommand, "name" | "summary" | "isAlways">[];
  pickers: readonly Pick<Picker, "key" | "title" | "takesText">[];
  requestFocus: "asked" | "modal";
  endsWithScreen: boolean;
  canGoBack: boolean;
  hasChanges: boolean;
  /** Messages can have images. */
  hasImages?: boolean;
  /** Files can be completed. */
  hasFiles: boolean;
  /** The agent's own commands can be completed. */
  hasAgentCommands: boolean;
}
