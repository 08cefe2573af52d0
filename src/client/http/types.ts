// The bodies of the HTTP API as types. Only types: the schemas they come from are not needed at run time here.
import type * as z from "zod";
import type * as wire from "../../protocol/wire/http.ts";
import type { WireFrame } from "../frames.ts";

export type { Action } from "../../protocol/actions.ts";
export type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
export type { ActivityState, FilterState } from "../../protocol/session.ts";
export type { Stats, ToolStat, TurnStat, WaitStat } from "../../protocol/stats.ts";
export type {
  ChangeView,
  EventsPage,
  EventView,
  SessionView,
  SpawnBody,
  WaitReply,
  WebLink,
} from "../../protocol/wire/http.ts";

export type SpawnReply = z.infer<typeof wire.SpawnReply>;
export type InputBody = z.infer<typeof wire.InputBody>;
export type InputReply = z.infer<typeof wire.InputReply>;
export type QueueReply = z.infer<typeof wire.QueueReply>;
export type InterruptReply = z.infer<typeof wire.InterruptReply>;
export type StoppedReply = z.infer<typeof wire.StoppedReply>;
export type DeletedReply = z.infer<typeof wire.DeletedReply>;
export type RequestsReply = z.infer<typeof wire.RequestsReply>;
export type RespondReply = z.infer<typeof wire.RespondReply>;
export type ActionsReply = z.infer<typeof wire.ActionsReply>;
export type FamilyReply = z.infer<typeof wire.FamilyReply>;
export type HealthReply = z.infer<typeof wire.HealthReply>;

export interface StatsFilter {
  /** What ended before is left out; default a day ago. */
  since_ms?: number;
  session_id?: string;
  /** Of each list, the newest. */
  limit?: number;
}

export interface SessionsFilter {
  backend?: string;
  parent?: string;
  name?: string;
  cwd?: string;
  /** One or more activity states. */
  state?: readonly string[];
  /** Only those that are in the daemon's memory. */
  live?: boolean;
  /** The most recently active ones. */
  limit?: number;
}

export interface WaitOptions {
  /** What ends the wait; that the session is stopped or gone always does. Default both. */
  until?: readonly ("idle" | "blocked")[];
  /** Until the turn of this message has ended, instead of `idle`. */
  message_id?: string;
  /** Absent: as long as it takes. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface EventsOptions {
  since_seq?: number;
  limit?: number;
  /** How long the daemon waits for the first event behind the cursor. */
  wait_s?: number;
  signal?: AbortSignal;
}

export interface FollowOptions {
  /** What follows this event; absent: from now on. */
  since_seq?: number;
  signal?: AbortSignal;
  /** Told each time that the daemon has begun to send. */
  onOpen?: () => void;
}

/** What a stream of one session's events gives. A `gap` says what is missing, `closed` is the last one. */
export type StreamItem =
  | { kind: "frame"; seq: number | null; frame: WireFrame }
  | { kind: "gap" | "catching_up" | "closed"; data: Record<string, unknown> };
