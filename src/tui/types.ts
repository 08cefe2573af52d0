// What the screens know of what they drive: a session of the daemon and a runtime in this process look the same to
// them. The screens draw a view (client/view.ts) and call these; they know no wire and no runtime.
import type { Fleet } from "../client/view/fleet.ts";
import type { Answer, RequestRow, ViewInput } from "../client/view/types.ts";

/** One session on a screen. Every method may reject with a CodedError; the screen shows its message. */
export interface SessionDriver {
  readonly session_id: string;
  /** How the header calls it before the session says so itself. */
  readonly title: string;
  /** Tells what happened, in order, at most once a tick. Called once; history comes first, then what is new. */
  start(listener: (inputs: readonly ViewInput[]) => void): void;
  /** A message of the person. While a turn runs it is queued; `isNow` interrupts the turn for it. */
  send(text: string, how?: { isNow?: boolean }): Promise<void>;
  interrupt(): Promise<void>;
  /** Answers exactly what was shown: with the row's `shown_hash`. */
  respond(request: RequestRow, answer: Answer): Promise<void>;
  /** The request whole, when the row is cut. */
  wholeRequest(request: RequestRow): Promise<RequestRow>;
  cancelQueued(message_id: string): Promise<void>;
  /**
   * Begins earlier in the history: everything comes anew behind a `reset`. `kept_from`: where the view begins, when it
   * dropped what came before. False: there is nothing earlier.
   */
  loadEarlier(kept_from?: number): Promise<boolean>;
  /** Words that begin with `/` and are for the face, not for the agent; with `/exit` the screen deals itself. */
  readonly commands: readonly DriverCommand[];
  /** Lists to choose from, opened by a key in an empty composer. */
  readonly pickers: readonly Picker[];
  /**
   * Who decides when the composer turns to a request. `asked`: the person, by a key (sm#288). `modal`: it does by
   * itself, because nothing else can be done meanwhile.
   */
  readonly requestFocus: "asked" | "modal";
  /** It ends with the screen; by default it goes on without it. Ctrl-C is then its end as of any program: status 130. */
  readonly endsWithScreen?: boolean;
  /** What stands in the status line beside the rest: provider, agent, sandbox. */
  settings?(): readonly string[];
  close(): Promise<void>;
}

export interface DriverCommand {
  /** With its slash. */
  name: string;
  summary: string;
  /** May be typed while a turn runs. */
  isAlways?: boolean;
  /** What it says is shown in the feed. */
  run(rest: string): Promise<void>;
}

export interface Picker {
  /** One small letter. */
  key: string;
  title: string;
  load(): Promise<readonly PickerOption[]>;
  choose(value: string): Promise<void>;
  /** A value that is not in the list may be typed. */
  takesText?: boolean;
}

export interface PickerOption {
  value: string;
  label: string;
  detail?: string;
  isCurrent?: boolean;
  /** Why it cannot be chosen. */
  problem?: string;
}

/** All sessions on a screen. */
export interface FleetDriver {
  /** Tells the newest state, at most once a tick. */
  start(listener: (fleet: Fleet) => void): void;
  open(session_id: string): SessionDriver;
  /** Backends that can be spawned, the usual one first. */
  backends(): Promise<readonly string[]>;
  /** Gives the new session's id. */
  spawn(order: { backend: string; prompt: string; cwd: string; name?: string }): Promise<string>;
  interrupt(session_id: string): Promise<void>;
  stop(session_id: string): Promise<void>;
  remove(session_id: string): Promise<void>;
  rename(session_id: string, name: string): Promise<void>;
  close(): Promise<void>;
}

/** Something that a person should be told although they look elsewhere. */
export interface News {
  kind: "waits" | "done" | "failed";
  session_id: string;
  /** One line; made safe where it is written. */
  text: string;
}
