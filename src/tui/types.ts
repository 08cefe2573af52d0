// What the screens drive: a daemon session or a runtime in this process, behind one interface. Screens draw a view
// (client/view.ts) and know neither wire nor runtime.
import type { ChangesPort } from "../client/view/change-source.ts";
import type { Fleet } from "../client/view/fleet.ts";
import type { Answer, RequestRow, ViewInput } from "../client/view/types.ts";

/** One session. Every method may reject with a CodedError; the screen shows its message. */
export interface SessionDriver {
  readonly session_id: string;
  /** Name in the header until the session reports one. */
  readonly title: string;
  /** Starts reporting events in order, history first. Called once. */
  start(listener: (inputs: readonly ViewInput[]) => void): void;
  /** Sends a user message; queued while a turn is running, unless `isNow` interrupts it. */
  send(text: string, how?: { isNow?: boolean }): Promise<void>;
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
  /** What the turns changed in the repository; absent if it cannot be known. */
  readonly changes?: ChangesPort;
  /**
   * What opens a request. `asked`: a key, so that typing never answers one by accident. `modal`: it opens by itself, because
   * nothing else can be done meanwhile.
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
  /** One lowercase letter. */
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
  /** Starts reporting the latest state. Called once. */
  start(listener: (fleet: Fleet) => void): void;
  open(session_id: string): SessionDriver;
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
  interrupt(session_id: string): Promise<void>;
  stop(session_id: string): Promise<void>;
  remove(session_id: string): Promise<void>;
  rename(session_id: string, name: string): Promise<void>;
  close(): Promise<void>;
}

/** An event the user should know about even when looking elsewhere. */
export interface Notification {
  kind: "waits" | "done" | "failed";
  session_id: string;
  /** One line; sanitized where it is written. */
  text: string;
}
