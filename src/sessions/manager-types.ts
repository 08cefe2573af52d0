// The manager's interface. Sessions have no owner here; `as` limits what agents may do, everybody else acts as the user.
// Errors are CodedErrors of protocol/errors.ts. Sessions that are not loaded are read from the store.
import type { Action } from "../protocol/actions.ts";
import type { Budget, BudgetChange } from "../protocol/budget.ts";
import type { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../protocol/changes.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { FilesReply } from "../protocol/files.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { OnLimit, QuotaBody, QuotaReply } from "../protocol/quota.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SearchReply } from "../protocol/search.ts";
import type { FilterState } from "../protocol/session.ts";
import type { SettingsChange, SettingsReply } from "../protocol/settings.ts";
import type { Stats } from "../protocol/stats.ts";
import type { UsageReply } from "../protocol/usage-report.ts";
import type { AskingSession, ChangeView, EventsPage, SessionView, WaitReply } from "../protocol/views.ts";
import type { WorktreeWish } from "../protocol/worktrees.ts";
import type { MarkChange } from "./core/marks.ts";
import type { FilesOrder } from "./files/file-finder.ts";
import type { Responded } from "./requests/frames.ts";
import type { RespondOrder } from "./requests/types.ts";
import type { Caller } from "./rights/caller.ts";
import type { Attachment, Client, RequestsFilter, RequestsPage, Subscriber } from "./types.ts";
import type { SearchOrder } from "./views/search.ts";
import type { UsageOrder } from "./views/usage.ts";

export interface SpawnOrder {
  backend: string;
  session_id?: string;
  message?: UserMessage;
  cwd?: string;
  model?: string;
  name?: string;
  labels?: readonly string[];
  parent?: string;
  options?: Record<string, unknown>;
  approvals?: boolean;
  budget?: Budget;
  on_limit?: OnLimit;
  wakes_parent?: boolean;
  /** Its agent may answer requests of its own descendants. */
  may_answer?: boolean;
  /** Its agent gets the tools for managing other agents. */
  manager?: boolean;
  /** Names of configured MCP servers. */
  mcp?: readonly string[];
  /** If it would have more rights than its parent: let a person decide. */
  ask?: boolean;
  notify_url?: string;
  request_timeout_s?: number;
  remind_s?: number;
  /** Start it in a new worktree of the repository of its working directory. */
  worktree?: WorktreeWish;
  /** Continue this conversation of the agent's own, which was started outside. */
  transcript?: string;
  key?: string;
}

/** What users may change of a session. */
export type MarkOrder = Omit<MarkChange, "budget" | "removed_spending"> & { readonly budget?: BudgetChange };

export interface InputOrder {
  session_id: string;
  message: UserMessage;
  now?: boolean;
  /** Add it to the running turn, if possible. */
  steer?: boolean;
  key?: string;
  /** The session whose agent sent it. */
  from?: string;
}

export interface ViewFilter {
  backend?: string;
  parent?: string;
  name?: string;
  cwd?: string;
  /** A project's directory, or its name. */
  project?: string;
  /** It has all of these. */
  labels?: readonly string[];
  failed?: boolean;
  archived?: boolean;
  /** Its last activity. */
  active_after_ms?: number;
  active_before_ms?: number;
  min_cost_usd?: number;
  state?: readonly FilterState[];
  /** Only sessions in memory. */
  live?: boolean;
  /** The start of the id. */
  prefix?: string;
  /** The most recently active ones. */
  limit?: number;
  /** `next` of the previous page. */
  after?: string;
}

export interface ViewsPage {
  sessions: SessionView[];
  /** There are more. */
  next?: string;
}

export interface EventsOrder {
  session_id: string;
  since_seq: number;
  limit: number;
  /** How long to wait for the first event after the cursor; 0 does not wait. */
  waitMs: number;
  include_unpersisted?: boolean;
  signal?: AbortSignal;
}

export interface WaitOrder {
  session_id: string;
  /** `idle`: no turn, nothing queued. `blocked`: a request is pending. Stopped and unknown also end the wait. */
  until: readonly ("idle" | "blocked")[];
  /** Instead: until this message's turn has ended. */
  message_id?: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface StatsOrder {
  /** Excludes older ones. */
  since_ms: number;
  /** Only of this session. */
  session_id?: string;
  /** The newest of each list. */
  limit: number;
}

/** Of a turn, between two checkpoints, or of the whole session. */
export interface ChangesRange {
  turn?: number;
  from?: number | "base";
  to?: number;
}

export interface Manager {
  spawn(
    order: SpawnOrder,
  ): Promise<{ session: SessionView; message_id?: string; repeated: boolean; notice?: string }>;
  views(filter: ViewFilter): Promise<ViewsPage>;
  view(session_id: string): Promise<SessionView>;
  /** A session and its descendants, parents before children. */
  family(session_id: string): Promise<{ depth: number; session: SessionView }[]>;
  /** Name, labels, and whether it is archived. Throws `session_busy`, `invalid_message`, `store_failed`. */
  mark(session_id: string, change: MarkOrder): Promise<SessionView>;
  settings(session_id: string): Promise<SettingsReply>;
  /** Throws `setting_refused`, `invalid_message`, `session_busy`, `store_failed`. */
  adjust(session_id: string, change: SettingsChange): Promise<SettingsReply>;
  /** Throws `pending_structured_request` while a request is pending, `queue_full`, `idempotency_mismatch`. */
  input(order: InputOrder): Promise<{ input: InputRecord; position: number; repeated: boolean }>;
  queue(session_id: string): Promise<{ queued: QueuedMessage[]; recent: InputRecord[]; held?: string }>;
  cancelInput(session_id: string, message_id: string): Promise<InputRecord>;
  /** Delivers queued messages now, also of a stopped session; `queued`: their number, 0 changes nothing. Throws `store_failed`. */
  continueQueue(session_id: string): Promise<{ queued: number }>;
  /** `by`: the session whose agent asked for it. */
  interrupt(session_id: string, by?: string): Promise<{ was_idle: boolean }>;
  /** Stops the agents; history and queue stay. Returns the ids of stopped sessions. */
  stop(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]>;
  /** Stops and deletes permanently: history, queue, requests. */
  remove(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]>;
  events(order: EventsOrder): Promise<EventsPage>;
  /** Like `Hub.watch`, also for sessions that are not in memory. */
  watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    since_seq: number | undefined,
  ): Promise<{
    last_seq: number;
    /** Frames after `since_seq` could not be stored, and are gone for readers that were not connected. */
    hasLost: boolean;
    attachment: Attachment;
    end(): void;
  }>;
  wait(order: WaitOrder): Promise<WaitReply>;
  respond(order: RespondOrder): Promise<Responded>;
  /** `tree`: also those of all descendants. */
  requests(
    filter: RequestsFilter & { tree?: boolean },
  ): Promise<RequestsPage & { sessions: AskingSession[] }>;
  request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined>;
  actions(session_id: string, limit: number): Promise<Action[]>;
  stats(order: StatsOrder): Promise<Stats>;
  usage(order: UsageOrder): Promise<UsageReply>;
  /** Texts of the history. Throws `invalid_message`, `search_unavailable`. */
  search(order: SearchOrder): Promise<SearchReply>;
  /** `refresh`: asks the running agents first. */
  quota(order: { refresh: boolean }): Promise<QuotaReply>;
  /** Ends a session's wait for a limit. Throws `quota_not_waiting`, `store_failed`. */
  orderQuota(session_id: string, body: QuotaBody): Promise<SessionView>;
  /** What the turns changed in the repository. Throws `change_unknown`, `git_failed`. */
  changes(session_id: string, order: ChangesRange & { limit: number; after?: string }): Promise<ChangesReply>;
  fileChanges(
    session_id: string,
    order: ChangesRange & { path: string; path_b64?: string },
  ): Promise<FileChangesReply>;
  /** Gives files the content that they had before a turn. Throws `session_busy`, `change_unknown`, `git_failed`. */
  undo(session_id: string, order: UndoBody): Promise<UndoReply>;
  /** Files of the session's directory whose names match, for completion. */
  files(session_id: string, order: FilesOrder): Promise<FilesReply>;
  /** Subscribes to changes of all sessions; a listener must not wait or throw. Returns the unsubscribe function. */
  onChange(listener: (change: ChangeView) => void): () => void;
  /** The same for one caller, limited to its rights. */
  as(caller: Caller): Manager;
  /** Throws `not_allowed` if the caller is an agent. `action`: after "may not". */
  requirePerson(action: string): void;
  /** Throws `not_allowed` if the caller is an agent that does not see all sessions. */
  requireSight(action: string): void;
}
