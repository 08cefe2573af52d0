// What a screen shows of one session, as data: the same for the terminal, `sm tail` and the browser. Only types; how
// it comes about is view.ts. Nothing in here was made safe for a terminal or a page: that is done where it is drawn.
import type { WaitClock } from "../../base/wait-clock.ts";
import type { NotRunReason } from "../../protocol/not-run.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { Answer, FileChange, RequestRow } from "../../protocol/requests.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { WireFrame } from "../frames.ts";
import type { ViewMemory } from "./memory.ts";

/** What a view is made of, in the order in which it came. */
export type ViewInput =
  /** An event of the session. `at_ms`: when it happened, where that is known. */
  | { kind: "frame"; seq: number | null; frame: WireFrame; at_ms?: number }
  /** What the stream says of itself. */
  | { kind: "gap" | "catching_up" | "closed"; data: Readonly<Record<string, unknown>> }
  /** The session as its manager sees it now. */
  | { kind: "session"; session: SessionView }
  /** All that waits for an answer now: what is not in it waits no more. */
  | { kind: "requests"; requests: readonly RequestRow[] }
  /** All that waits in the queue now. */
  | { kind: "queue"; queue: readonly QueuedMessage[] }
  /** Whether the daemon answers. */
  | { kind: "link"; state: LinkState; message?: string }
  /** Something of our own that is part of the talk: what a command did, what went wrong with it. */
  | { kind: "local"; level: "info" | "warn" | "error"; text: string; at_ms?: number }
  /** Everything anew: what follows begins at another event. `up_to`: a person asked for all up to there: it is kept whole. */
  | { kind: "reset"; up_to?: number };

export type LinkState = "connecting" | "live" | "lost";

interface Common {
  /** Unique in the view and stable, also when the same events are read again. */
  id: string;
  /** Of the first event that it is made of; null when that was not stored, or it is our own. */
  seq: number | null;
  at_ms?: number;
  /** The tool call of the sub-agent that did it; absent for the session's own agent. */
  parent?: string;
  /** How many sub-agents deep. */
  depth: number;
}

export interface UserEntry extends Common {
  kind: "user";
  text: string;
  /** Pictures and other blocks that are no text. */
  attachments?: number;
  /** The session whose agent sent it. */
  from?: string;
}

/** Said by the agent. `isOpen`: more may come. */
export interface TextEntry extends Common {
  kind: "text";
  text: string;
  isOpen: boolean;
}

export interface ThinkingEntry extends Common {
  kind: "thinking";
  text: string;
  isOpen: boolean;
  ended_at_ms?: number;
}

/** `not_run`: it was asked for and never allowed. `unknown`: the turn ended and nobody said what became of it. */
export type ToolStatus = "running" | "waiting" | "done" | "failed" | "not_run" | "unknown";

export interface ToolEntry extends Common {
  kind: "tool";
  tool_use_id: string;
  name: string;
  /** One line for people, not cut: "npm test", "src/a.ts". Empty when the name says it all. */
  title: string;
  input: unknown;
  /** What has come of the input while it is still being written. */
  partialInput?: string;
  status: ToolStatus;
  /** Its output as text; what it is made of when it is not text, as JSON. */
  output?: string;
  exit_code?: number;
  ended_at_ms?: number;
  /** How long of that it waited for a person. */
  waited_ms?: number;
  /** Why it did not run, when its status is `not_run`. */
  not_run?: NotRunReason;
  /** What it changes in files, where that can be told from its input or its output. */
  changes?: readonly FileChange[];
  /** It runs a sub-agent: what that does has this entry as its `parent`. */
  agent?: string;
}

/** Something that was asked; the row as it stands now. */
export interface RequestEntry extends Common {
  kind: "request";
  request: RequestRow;
}

export interface NoticeEntry extends Common {
  kind: "notice";
  level: "info" | "warn" | "error";
  category: string;
  text: string;
}

/** The end of a turn. */
export interface ResultEntry extends Common {
  kind: "result";
  subtype: string;
  duration_ms?: number;
  /** How much of that it waited for people. */
  waited_ms?: number;
  usage?: Usage;
  cost_usd?: number;
  error?: string;
}

/** Events are missing here. */
export interface GapEntry extends Common {
  kind: "gap";
  text: string;
}

export type Entry =
  | UserEntry
  | TextEntry
  | ThinkingEntry
  | ToolEntry
  | RequestEntry
  | NoticeEntry
  | ResultEntry
  | GapEntry;

export interface View {
  /** Absent until the manager has said something. */
  session?: SessionView;
  /** What the agent said of itself. */
  agent: { backend?: string; model?: string; cwd?: string; context_window?: number };
  /** Oldest first. An entry that did not change is the same object as before. */
  entries: readonly Entry[];
  /** What waits for an answer, oldest first. */
  requests: readonly RequestRow[];
  queue: readonly QueuedMessage[];
  /** A turn runs, as far as the events say. `waits`: how long it has waited for people. */
  turn?: { started_at_ms?: number; waits?: WaitClock };
  /** The newest event that is in it; what is not newer is left out when it comes again. */
  seq: number;
  /** Entries that were here and are no longer kept: they are in the daemon's log. */
  dropped: number;
  link: { state: LinkState; message?: string };
  /** Why there will be nothing more. */
  closed?: string;
  /** What the reducer goes on from; nothing for screens. */
  memory?: ViewMemory;
}

export type { Answer, FileChange, RequestRow, SessionView };
