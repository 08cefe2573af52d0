// What the screens drive: a daemon session or a runtime in this process, behind one interface. Screens draw a view
// (client/view.ts) and know neither wire nor runtime.
import type { AgentCommand, TranscriptsReply, TranscriptView } from "../client/http/types.ts";
import type { ChangesPort } from "../client/view/change-source.ts";
import type { Fleet } from "../client/view/fleet.ts";
import type { Answer, RequestRow, ViewInput } from "../client/view/types.ts";
import type { FilesReply } from "../protocol/files.ts";
import type { SearchReply } from "../protocol/search.ts";
import type { LabelChange } from "./fleet/labels.ts";

/** While a turn is running: after it, instead of the rest of it, or in it. */
export type Delivery = "queue" | "now" | "steer";

/** One session. Every method may reject with a CodedError; the screen shows its message. */
export interface SessionDriver {
  readonly session_id: string;
  /** Name in the header until the session reports one. */
  readonly title: string;
  /** The event to show first, instead of the end. */
  readonly at_seq?: number;
  /** Starts reporting events in order, history first. Called once. */
  start(listener: (inputs: readonly ViewInput[]) => void): void;
  /** Sends a user message. Returns what the user should know about its delivery. */
  send(text: string, how?: Delivery): Promise<string | undefined>;
  interrupt(): Promise<void>;
  /** Answers the request as shown, identified by its `shown_hash`. */
  respond(request: RequestRow, answer: Answer): Promise<void>;
  /** Loads the full version of a truncated request. */
  wholeRequest(request: RequestRow): Promise<RequestRow>;
  cancelQueued(message_id: string): Promise<void>;
  /**
   * Reloads from an earlier point of the history: all events follow a `reset`. `kept_from`: where the view starts, if it
   * dropped older entries. Returns false if there is nothing earlier.
   */
  loadEarlier(kept_from?: number): Promise<boolean>;
  /** Slash commands handled here instead of by the agent; the screen adds `/help` and `/exit`. */
  readonly commands: readonly DriverCommand[];
  /** Pickers opened by a key in an empty composer. */
  readonly pickers: readonly Picker[];
  /** Files of the working directory whose names match, for completion after `@`; absent if it cannot be known. */
  findFiles?(match: string): Promise<Pick<FilesReply, "files" | "reason">>;
  /**
   * Takes an image for the next message, by the path that was pasted, or from the clipboard. Returns the label that stands for
   * it in the text. Absent if messages cannot have images.
   */
  attach?(path: string | undefined): Promise<string>;
  /** The agent's own slash commands, for completion; absent if they cannot be known. */
  agentCommands?(): Promise<readonly AgentCommand[]>;
  /** What the turns changed in the repository; absent if it cannot be known. */
  readonly changes?: ChangesPort;
  /**
   * When a request opens by itself. `asked`: only while nothing is being written, so that typing never answers one by
   * accident; otherwise a key opens it. `modal`: always, because nothing else can be done meanwhile.
   */
  readonly requestFocus: "asked" | "modal";
  /** The session ends with the screen (by default it keeps running), and Ctrl-C exits with status 130. */
  readonly endsWithScreen?: boolean;
  /** Extra facts for the header: provider, agent, sandbox. */
  settings?(): readonly string[];
  close(): Promise<void>;
}

export interface DriverCommand {
  /** Includes the slash. */
  name: string;
  summary: string;
  /** Available while a turn is running. */
  isAlways?: boolean;
  /** Output goes to the feed. */
  run(rest: string): Promise<void>;
}

export interface Picker {
  /** One lowercase letter, in an empty composer; or the name of the command that opens it. */
  key: string;
  title: string;
  load(): Promise<readonly PickerOption[]>;
  choose(value: string): Promise<void>;
  /** Values outside the list can be typed. */
  takesText?: boolean;
}

export interface PickerOption {
  value: string;
  label: string;
  detail?: string;
  isCurrent?: boolean;
  /** Why it cannot be selected. */
  problem?: string;
}

export interface FleetDriver {
  /** Sessions that were started outside. */
  readonly outside: OutsideDriver;
  /** Starts reporting the latest state. Called once. */
  start(listener: (fleet: Fleet) => void): void;
  /** `at_seq`: where to start reading; by default at the end. */
  open(session_id: string, at_seq?: number): SessionDriver;
  /** Searches the history of all sessions. `after`: `next` of the page before. */
  search(order: { text: string; after?: string }, signal: AbortSignal): Promise<SearchReply>;
  /** Available backends, the default first. */
  backends(): Promise<readonly string[]>;
  /** Returns the new session's id. */
  spawn(order: {
    backend: string;
    prompt: string;
    cwd: string;
    name?: string;
    worktree?: true;
  }): Promise<string>;
  /** Answers the request as shown. Returns what could not be done as requested. Throws if another answer came first. */
  respond(request: RequestRow, answer: Answer): Promise<string | undefined>;
  /** Loads the full version of a truncated request. */
  wholeRequest(request: RequestRow): Promise<RequestRow>;
  interrupt(session_id: string): Promise<void>;
  stop(session_id: string): Promise<void>;
  remove(session_id: string): Promise<void>;
  rename(session_id: string, name: string): Promise<void>;
  changeLabels(session_id: string, change: LabelChange): Promise<void>;
  /** Throws `session_busy` if it has work. */
  archive(session_id: string, archived: boolean): Promise<void>;
  close(): Promise<void>;
}

export type ShownTranscript = Pick<
  TranscriptView,
  "session_id" | "backend" | "provider" | "title" | "open_in_pid"
>;

/** Conversations of agents that other programs started. */
export interface OutsideDriver {
  /** One page, most recently active first. */
  list(after?: string): Promise<TranscriptsReply>;
  /** Shows it. The first message continues it as a session, which is then opened instead. */
  read(
    transcript: ShownTranscript,
    onContinued: (session_id: string) => void,
    at_seq?: number,
  ): SessionDriver;
  /** Continues it as a session that waits for a message; returns its id. Throws `transcript_in_use`. */
  adopt(transcript: TranscriptView): Promise<string>;
}

/** An event the user should know about even when looking elsewhere. */
export interface Notification {
  kind: "waits" | "done" | "failed";
  session_id: string;
  /** One line; sanitized where it is written. */
  text: string;
}
