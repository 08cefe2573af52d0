// The state of a session: one phase, plus what holds in every phase. Immutable plain data; reduce.ts computes the next
// state. phases.ts lists the phases and the allowed transitions.
import { defined } from "../../base/values.ts";
import type { TurnUse } from "../../protocol/budget.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { AfterLimit } from "../../protocol/quota.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { BudgetFacts } from "./budget.ts";
import type { Job } from "./jobs.ts";
import type { Marks } from "./marks.ts";
import type { Rates } from "./spending.ts";

export interface SessionState {
  readonly phase: Phase;
  /** The agent's process, from the request to start it until it has exited. */
  readonly run: RunFacts | undefined;
  readonly owner: Owner;
  /** The stored fields, except the turn, which lives in the phase. */
  readonly row: CoreRow;
  /** Unsettled requests of this run, oldest first. */
  readonly requests: readonly OpenRequest[];
  /** Operations that start or stop the agent, run one at a time; the first is in progress. */
  readonly jobs: readonly Job[];
  /** Writes whose outcome is still unknown. */
  readonly writes: readonly Write[];
  /** Why the queue is blocked although the agent is free; a timer retries. */
  readonly held: { readonly message: string } | undefined;
  /** The queue is delivered although the row says that it waits for quota: the wait ends with the next message. */
  readonly isPastLimit: boolean;
  /** Delay before the next retry. */
  readonly retry_ms: number;
  /** The last result while more work follows: queued messages, or background work. */
  readonly unfinished: ResultEvent | undefined;
  /** When background work last ended. */
  readonly calmed_at_ms: number;
  readonly around: Surroundings;
  /** What the budgets of its family allow; absent: no limit applies. */
  readonly budget: BudgetFacts | undefined;
  readonly rates: Rates;
  /** Number of writes requested so far; names the next one. */
  readonly writeCount: number;
}

export type Phase =
  | { readonly name: "cold" }
  | { readonly name: "starting" }
  | { readonly name: "ready" }
  | { readonly name: "turn"; readonly turn: Turn }
  | InterruptingPhase
  | { readonly name: "stopping"; readonly how: "finish" | "now" }
  | { readonly name: "closed" };

/** The agent was asked to stop. Lasts until the interrupt completes, which can be after the turn's result. */
export interface InterruptingPhase {
  readonly name: "interrupting";
  /** Absent once its result is published, or when only background work is being stopped. */
  readonly turn?: Turn;
  /** The turn being interrupted. */
  readonly target?: string;
  /** Jobs to answer when it completes. */
  readonly waiters: readonly string[];
}

export interface RunFacts {
  /** Identifies this process in the ledger. */
  readonly generation: string;
  /** The backend's start has resolved. */
  readonly isUp: boolean;
  readonly hasInit: boolean;
  /** It works in the background, outside a turn. */
  readonly isBusy: boolean;
  readonly isPaused: boolean;
  /** Calls of an earlier daemon that are still to be repeated; nothing new is given to the agent before that. */
  readonly toRepeat?: number;
  /** Messages for the running turn that it was given, until it reports what became of them. */
  readonly steers?: readonly Steer[];
  /** It ended while no daemon was running; its output is being read to the end. */
  readonly isGone?: true;
}

/** `cancels`: calls that wait for the agent to give it back. */
export interface Steer {
  readonly message_id: string;
  readonly cancels: readonly string[];
}

/**
 * `client_id`: the owner. `left_at_ms`: when the last owner left; absent while the first client is being served.
 * `isAwaited`: the daemon was restarted, and its clients may reconnect.
 */
export interface Owner {
  readonly client_id?: string;
  readonly left_at_ms?: number;
  readonly isAwaited?: true;
}

/** Excludes what others own: `last_seq` and `lost_after` (stream), `wakes` (family), the turn (phase). */
export type CoreRow = Readonly<Omit<SessionRow, "turn" | "last_seq" | "lost_after" | "wakes">>;

export interface Turn {
  readonly turn_id: string;
  readonly started_at_ms: number;
  /** Started by a client's message, or by the agent itself. */
  readonly origin: "user" | "agent";
  /** The `task_started` notice was published. It waits for the first system_init of a process. */
  readonly isAnnounced: boolean;
  readonly isThinking: boolean;
  /** The agent has been given the turn's message. A result before that belongs to a turn of its own. */
  readonly isGiven: boolean;
  /** Someone asked to interrupt it. */
  readonly isInterrupted: boolean;
  readonly firstTokenMs?: number;
  /** Tool calls without a result yet, oldest first. */
  readonly openTools: readonly OpenTool[];
  /** The end of the agent's last message. */
  readonly lastText?: string;
  /** Overrides the agent's outcome when we end the turn because of an error. */
  readonly verdict?: { readonly code: string; readonly message: string; readonly subtype?: "max_budget" };
  /** What it has used so far, as its agent reports it. */
  readonly used?: TurnUse;
  /** It waits for an answer; this time does not count. */
  readonly askingSinceMs?: number;
  /** The wake message that started it. */
  readonly wake?: QueuedMessage;
  /** The user's message, if it returns to the queue when the turn ends by a limit. */
  readonly message?: QueuedMessage;
  /** The message has waited for quota before. */
  readonly after_limit?: AfterLimit;
  /** The queued message that started it, until this process of the agent is given it. */
  readonly undelivered?: { readonly entry: QueuedMessage; readonly generation: string };
  /** An earlier daemon started it, so clients may know it although its announcement is not stored. */
  readonly isInherited?: true;
}

export interface OpenTool {
  readonly tool_use_id: string;
  /** The sub-agent call that made it. */
  readonly parent_tool_use_id?: string;
}

/** `isShown`: stored and waiting for an answer. Otherwise it is being stored, or its answer is being delivered. */
export interface OpenRequest extends Pick<RequestRow, "request_id" | "request_type" | "requested_at_ms"> {
  readonly title: string;
  readonly isShown: boolean;
}

/** What depends on a write, with what is needed to undo it if the write fails. */
export type Write = { readonly write_id: string } & (
  | { readonly for: "result" }
  | { readonly for: "job" }
  | { readonly for: "row"; readonly job_id: string }
  | { readonly for: "marks"; readonly job_id: string; readonly before: Partial<Marks> }
  | {
      readonly for: "enqueue";
      readonly job_id: string;
      readonly message_id: string;
      readonly stopped_at_ms?: number;
      readonly archived_at_ms?: number;
      readonly note?: string;
      /** A duplicate of a message whose own write is still in flight. */
      readonly isRepeated?: true;
    }
  | {
      readonly for: "cancel";
      readonly job_id: string;
      readonly entry: QueuedMessage;
      readonly follower?: string;
    }
  | {
      readonly for: "handover";
      readonly turn_id: string;
      readonly entry: QueuedMessage;
      /** The owner's call, if it is not from the queue. */
      readonly job_id?: string;
    }
);

/** Facts the shell observes outside the core. */
export interface Surroundings {
  /** The store has not accepted everything yet; this session must still report the loss. */
  readonly isOwed: boolean;
  /** The daemon is shutting down: nothing is delivered from queues. */
  readonly isQuiet: boolean;
  /** Backpressure: the owner or the log cannot keep up. */
  readonly isFull: boolean;
}

/** A refusal, in the protocol's codes and wording. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly data?: Record<string, unknown> | undefined;
}

export function getTurn({ phase }: SessionState): Turn | undefined {
  return phase.name === "turn" || phase.name === "interrupting" ? phase.turn : undefined;
}

/** The process is up, including while it is being stopped; false while it starts. */
export function isRunning({ run }: SessionState): boolean {
  return run?.isUp === true;
}

/** Background work is running. */
export function isBusy({ run }: SessionState): boolean {
  return run?.isBusy === true;
}

/** What an earlier daemon asked of the agent is not repeated yet, or only what the agent has said is read. */
export function isRepeating({ run }: SessionState): boolean {
  return (run?.toRepeat ?? 0) > 0 || run?.isGone === true;
}

/** Messages for a turn are with the agent, which may begin the next one with them. */
export function isSteering({ run }: SessionState): boolean {
  return (run?.steers ?? []).length > 0;
}

/** The queue has it, and the disk does not yet. */
export function isUnstored({ writes }: SessionState, message_id: string): boolean {
  return writes.some((write) => {
    return write.for === "enqueue" && write.message_id === message_id && write.isRepeated !== true;
  });
}

/** A request is waiting for an answer, or its answer is being delivered. */
export function isAsking({ requests }: SessionState): boolean {
  return requests.length > 0;
}

/** Work that must not be cut off: a turn, a request, background work, a message that may become a turn. */
export function isEngaged(state: SessionState): boolean {
  return getTurn(state) !== undefined || isAsking(state) || isBusy(state) || isSteering(state);
}

/** A message is queued, or the turn it started is running. */
export function hasInput({ row }: SessionState): boolean {
  return getQueue(row).length > 0 || row.inputs?.some(({ state }) => state === "delivered") === true;
}

export function getQueue({ queue }: Pick<SessionRow, "queue">): readonly QueuedMessage[] {
  return queue ?? [];
}

/** Its queue waits for the reset of a limit. */
export function isWaitingQuota({ row, isPastLimit }: SessionState): boolean {
  const isHeld = row.quota_wait !== undefined && !isPastLimit && row.stopped_at_ms === undefined;
  return isHeld && getQueue(row).length > 0;
}

/** Closed, or past the point of no return. */
export function isClosing({ phase, jobs: [job] }: SessionState): boolean {
  return phase.name === "closed" || (job?.kind === "close" && job.stage !== undefined);
}

/** No client will send more work: it has no owner, awaits none, and was not spawned to run on its own. */
export function isUnattended(state: SessionState): boolean {
  const { owner, row } = state;
  const hasOwner = owner.client_id !== undefined || owner.isAwaited === true;
  return !hasOwner && row.managed !== true && !isClosing(state);
}

/** Its agent is up or starting, with nothing to do and no client to give it work. */
export function isUnneeded(state: SessionState): boolean {
  return state.run !== undefined && isUnattended(state) && !isEngaged(state);
}

/** A client is opening it, or a manager is creating it. */
export function isClaimed({ jobs }: SessionState): boolean {
  return jobs.some(({ kind }) => kind === "open" || kind === "begin");
}

/** Its agent is being stopped to free a slot for another session. */
export function isResting({ jobs: [job] }: SessionState): boolean {
  return job?.kind === "rest" && job.stage !== undefined;
}

/** A result is being written to disk. */
export function isSettling({ writes }: SessionState): boolean {
  return writes.some((write) => write.for === "result");
}

/**
 * When the session last had anything to do; undefined while something is going on. `heard_at_ms`: the agent's last
 * output.
 */
export function getIdleSince(state: SessionState, heard_at_ms = 0): number | undefined {
  const { owner, row, around } = state;
  if (owner.client_id !== undefined || isClaimed(state)) return undefined;
  // A pending loss report must come from this session, and background work continues unattended.
  if (hasInput(state) || isAsking(state) || around.isOwed || isBusy(state)) return undefined;
  if (state.budget?.isAsking === true) return undefined;
  // A turn that outlasts the idle timeout ends with its session.
  if (row.managed !== true) {
    return owner.left_at_ms === undefined ? undefined : Math.max(owner.left_at_ms, state.calmed_at_ms);
  }
  if (isEngaged(state)) return undefined;
  return Math.max(owner.left_at_ms ?? 0, row.last_active_at_ms, heard_at_ms);
}

/** Since when its agent is not needed for now: the session is idle, or waits for quota. */
export function getRestSince(state: SessionState): number | undefined {
  const isFree = isWaitingQuota(state) && !isEngaged(state) && !isClaimed(state);
  if (isFree && state.owner.client_id === undefined) return state.row.last_active_at_ms;
  return getIdleSince(state);
}

/** The row to store, except for the fields others own. */
export function toRow(state: SessionState): CoreRow & Pick<SessionRow, "turn"> {
  const turn = getTurn(state);
  if (turn === undefined) return state.row;
  const { turn_id, started_at_ms, wake, message, after_limit, undelivered, origin, isAnnounced, used } = turn;
  const known = {
    ...(origin === "agent" ? { origin } : {}),
    ...(isAnnounced ? { is_announced: true as const } : {}),
    ...defined({ wake, message, after_limit, undelivered, used }),
  };
  return { ...state.row, turn: { turn_id, started_at_ms, ...known } };
}
