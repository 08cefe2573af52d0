// Types of the HTTP API. Types only, so that the schemas are not loaded at run time.
import type * as z from "zod";
import type { SearchRole } from "../../protocol/search.ts";
import type { UsageGroupBy } from "../../protocol/usage-report.ts";
import type * as wire from "../../protocol/wire/http.ts";
import type * as worktrees from "../../protocol/worktrees.ts";
import type { WireFrame } from "../frames.ts";

export type { Action } from "../../protocol/actions.ts";
export type {
  ChangedFile,
  ChangedLine,
  ChangedTurn,
  ChangesReply,
  FileChangesReply,
  Hunk,
  NotCovered,
  UndoBody,
  UndoneFile,
  UndoReply,
} from "../../protocol/changes.ts";
export type { FilesReply, FoundFile } from "../../protocol/files.ts";
export type {
  PolicyPreview,
  PolicyRule,
  PolicyVerdict,
  PolicyView,
  RuleView,
} from "../../protocol/policy.ts";
export type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
export type { QuotaBody, QuotaReply, QuotaWaitView, QuotaWindow } from "../../protocol/quota.ts";
export type { SearchHit, SearchReply, SearchRole } from "../../protocol/search.ts";
export type { ActivityState, FilterState } from "../../protocol/session.ts";
export type { AgentCommand, Setting, SettingsChange, SettingsReply } from "../../protocol/settings.ts";
export type { Stats, ToolStat, TurnStat, WaitStat } from "../../protocol/stats.ts";
export type { TranscriptPage, TranscriptsReply, TranscriptView } from "../../protocol/transcripts.ts";
export type { UsageGroup, UsageGroupBy, UsageReply, UsageSums } from "../../protocol/usage-report.ts";
export type {
  ChangeBody,
  ChangeView,
  DaemonLogReply,
  EventsPage,
  EventView,
  RestartDaemonReply,
  SessionView,
  SpawnBody,
  StopDaemonReply,
  WaitReply,
  WebLink,
} from "../../protocol/wire/http.ts";
export type { WorktreeView } from "../../protocol/worktrees.ts";

export type WorktreesReply = z.infer<typeof worktrees.WorktreesReply>;
export type RemovedWorktree = z.infer<typeof worktrees.RemovedWorktreeReply>["removed"];
export type SpawnReply = z.infer<typeof wire.SpawnReply>;
export type InputBody = z.infer<typeof wire.InputBody>;
export type InputReply = z.infer<typeof wire.InputReply>;
export type QueueReply = z.infer<typeof wire.QueueReply>;
export type ResumeReply = z.infer<typeof wire.ResumeReply>;
export type InterruptReply = z.infer<typeof wire.InterruptReply>;
export type StoppedReply = z.infer<typeof wire.StoppedReply>;
export type DeletedReply = z.infer<typeof wire.DeletedReply>;
export type SessionsReply = z.infer<typeof wire.SessionsReply>;
export type RequestsReply = z.infer<typeof wire.RequestsReply>;
export type RespondReply = z.infer<typeof wire.RespondReply>;
export type ActionsReply = z.infer<typeof wire.ActionsReply>;
export type FamilyReply = z.infer<typeof wire.FamilyReply>;
export type HealthReply = z.infer<typeof wire.HealthReply>;
export type StatusReply = z.infer<typeof wire.StatusReply>;

export interface StatsFilter {
  /** Excludes what ended earlier; default one day ago. */
  since_ms?: number;
  session_id?: string;
  /** Newest entries per list. */
  limit?: number;
}

export interface SearchFilter {
  /** Words that must all occur; `"several words"` as a phrase. */
  q: string;
  session_id?: string;
  /** A project's directory, or its name. */
  project?: string;
  agent?: string;
  role?: readonly SearchRole[];
  /** Times in ms, to the hour. */
  from?: number;
  to?: number;
  /** Default: 20. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
}

export interface UsageFilter {
  /** Default: day. */
  by?: UsageGroupBy;
  /** The first day (`2026-01-31`), or a time in ms; default 30 days including today. */
  from?: string | number;
  /** The last day, or the end as a time in ms; default now. */
  to?: string | number;
  /** The zone of the days; default the daemon's. */
  time_zone?: string;
  session_id?: string;
  limit?: number;
  /** `next` of the page before. */
  after?: string;
}

/** A turn, or from one checkpoint to another; default: the whole session. */
export interface ChangesRange {
  turn?: number;
  from?: number | "base";
  to?: number;
}

export interface SessionsFilter {
  backend?: string;
  parent?: string;
  name?: string;
  cwd?: string;
  /** A project's directory, or the last part of that. */
  project?: string;
  /** It has all of these. */
  labels?: readonly string[];
  failed?: boolean;
  /** Only archived sessions, or only others; default both. */
  archived?: boolean;
  /** Its last activity. */
  active_after_ms?: number;
  active_before_ms?: number;
  min_cost_usd?: number;
  /** Activity states. */
  state?: readonly string[];
  /** Only sessions in the daemon's memory. */
  live?: boolean;
  /** The start of the id. */
  prefix?: string;
  /** The most recently active sessions. */
  limit?: number;
}

export interface TranscriptsFilter {
  /** A backend, or its name for session managers. */
  agent?: string;
  /** A project's directory, or the last part of that. */
  project?: string;
  /** Its last activity. */
  active_after_ms?: number;
  active_before_ms?: number;
  /** The start of the id. */
  prefix?: string;
  /** Default 100. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
}

export interface TranscriptEventsQuery {
  agent?: string;
  since_seq?: number;
  limit?: number;
  tail?: boolean;
}

export interface WaitOptions {
  /** What ends the wait (default both). A stopped or deleted session always does. */
  until?: readonly ("idle" | "blocked")[];
  /** Instead of `idle`: wait until the turn of this message has ended. */
  message_id?: string;
  /** Default: no timeout. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface EventsOptions {
  since_seq?: number;
  limit?: number;
  /** How long the daemon waits for the first event after `since_seq`. */
  wait_s?: number;
  signal?: AbortSignal;
}

export interface FollowOptions {
  /** Start after this event; by default only new events. */
  since_seq?: number;
  signal?: AbortSignal;
  /** Called each time a stream has started. */
  onOpen?: () => void;
}

/** An item of a session's stream. A `gap` reports missing events; `closed` is the last item. */
export type StreamItem =
  | { kind: "frame"; seq: number | null; frame: WireFrame }
  | { kind: "gap" | "catching_up" | "closed"; data: Record<string, unknown> };
