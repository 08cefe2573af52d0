// What a screen shows of one session: types shared by the terminal UI, `sm tail` and the dashboard. Made by view.ts.
// Not sanitized; each screen does that when it draws.
import type { WaitClock } from "../../base/wait-clock.ts";
import type { NotRunReason } from "../../protocol/not-run.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { Answer, FileChange, RequestRow } from "../../protocol/requests.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { WireFrame } from "../frames.ts";
import type { ViewMemory } from "./memory.ts";

/** The inputs of a view, in order. */
export type ViewInput =
  /** An event of the session. `at_ms`: when it happened, if known. */
  | { kind: "frame"; seq: number | null; frame: WireFrame; at_ms?: number }
  /** Stream status. */
  | { kind: "gap" | "catching_up" | "closed"; data: Readonly<Record<string, unknown>> }
  /** The current session view. */
  | { kind: "session"; session: SessionView }
  /** All pending requests; others are no longer pending. */
  | { kind: "requests"; requests: readonly RequestRow[] }
  /** The complete queue. */
  | { kind: "queue"; queue: readonly QueuedMessage[] }
  /** Connection state. */
  | { kind: "link"; state: LinkState; message?: string }
  /** A line of our own in the feed: a command's outcome. */
  | { kind: "local"; level: "info" | "warn" | "error"; text: string; at_ms?: number }
  /** Start over: the following inputs replace everything. `up_to`: keep everything up to this event, which the user loaded. */
  | { kind: "reset"; up_to?: number };

export type LinkState = "connecting" | "live" | "lost";

interface Common {
  /** Unique in the view, and stable when the same events are read again. */
  id: string;
  /** Seq of its first event; null if that was not stored, or for our own lines. */
  seq: number | null;
  at_ms?: number;
  /** The tool call of the sub-agent; absent for the main agent. */
  parent?: string;
  /** Nesting of sub-agents. */
  depth: number;
  /** Part of a turn that the agent has forgotten, because it was undone. */
  isUndone?: true;
}

export interface UserEntry extends Common {
  kind: "user";
  text: string;
  /** Images and other non-text blocks. */
  attachments?: number;
  /** The session whose agent sent it. */
  from?: string;
}

/** Text of the agent. `isOpen`: more may follow. */
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

/** `not_run`: requested but not allowed. `unknown`: the turn ended without a result. */
export type ToolStatus = "running" | "waiting" | "done" | "failed" | "not_run" | "unknown";

export interface ToolEntry extends Common {
  kind: "tool";
  tool_use_id: string;
  name: string;
  /** One line, not truncated: "npm test", "src/a.ts". Empty if the name is enough. */
  title: string;
  input: unknown;
  /** The input while it is streamed. */
  partialInput?: string;
  status: ToolStatus;
  /** As text, or as JSON if it is not text. */
  output?: string;
  exit_code?: number;
  ended_at_ms?: number;
  /** Time of that spent waiting for the user. */
  waited_ms?: number;
  /** Set if the status is `not_run`. */
  not_run?: NotRunReason;
  /** File changes, if known. */
  changes?: readonly FileChange[];
  /** Name of the sub-agent it runs, whose entries have this call as `parent`. */
  agent?: string;
}

/** A request with its current row. */
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
  /** Time of that spent waiting for the user. */
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

export interface PlanStep {
  text: string;
  status: "pending" | "in_progress" | "completed";
}

export interface View {
  /** Absent until first read. */
  session?: SessionView;
  /** From the agent's `system_init`. */
  agent: { backend?: string; model?: string; cwd?: string; context_window?: number };
  /** Oldest first. Unchanged entries keep their identity. */
  entries: readonly Entry[];
  /** Pending requests, oldest first. */
  requests: readonly RequestRow[];
  queue: readonly QueuedMessage[];
  /** The running turn, according to the events. `waits`: time spent waiting for the user. */
  turn?: { started_at_ms?: number; waits?: WaitClock };
  /** The agent's newest list of steps. */
  plan?: readonly PlanStep[];
  /** The newest event included; older ones are ignored. */
  seq: number;
  /** Number of entries dropped; the daemon's log has them. */
  dropped: number;
  link: { state: LinkState; message?: string };
  /** Why the session ended. */
  closed?: string;
  /** State of the reducer, not for screens. */
  memory?: ViewMemory;
}

export type { Answer, FileChange, RequestRow, SessionView };
