// What a session is at one moment: one phase, and what is true in every phase. Plain data that nothing changes in place;
// reduce.ts makes the next state from it. The phases, and which may follow which, are in phases.ts.
import type { ResultEvent } from "../../protocol/events.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { Job } from "./jobs.ts";

export interface SessionState {
  readonly phase: Phase;
  /** The agent's process, from the moment at which its start is asked for until it is gone. */
  readonly run: RunFacts | undefined;
  readonly owner: Owner;
  /** What is stored of the session, but for the turn, which the phase has. */
  readonly row: CoreRow;
  /** What this run asks and nobody has settled yet, oldest first. */
  readonly requests: readonly OpenRequest[];
  /** What was asked for and starts or ends the agent: one after another, the first is under way. */
  readonly jobs: readonly Job[];
  /** Writes whose outcome is not known yet. */
  readonly writes: readonly Write[];
  /** Why the queue waits although the agent is free; a timer lets it be tried again. */
  readonly held: { readonly message: string } | undefined;
  /** How long it waits the next time. */
  readonly retry_ms: number;
  /** The last result, while more is to follow: queued messages, or what the agent does behind its turn. */
  readonly unfinished: ResultEvent | undefined;
  /** When work in the background last ended. */
  readonly calmed_at_ms: number;
  readonly around: Surroundings;
  /** How many writes were asked for; names the next one. */
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

/** The agent was told to stop. It lasts until that is over, which may be behind the turn's result. */
export interface InterruptingPhase {
  readonly name: "interrupting";
  /** Absent: its result is out, or only work in the background is stopped. */
  readonly turn?: Turn;
  /** The turn that is to stop. */
  readonly target?: string;
  /** Who is told when it is over. */
  readonly waiters: readonly string[];
}

export interface RunFacts {
  /** This life of the agent in the ledger. */
  readonly generation: string;
  /** The backend has handed it over. */
  readonly isUp: boolean;
  readonly hasInit: boolean;
  /** It works on behind its turns. */
  readonly isBusy: boolean;
  readonly isPaused: boolean;
}

/** `client_id`: who drives it. `left_at_ms`: since when nobody does; absent while its first client is being served. */
export interface Owner {
  readonly client_id?: string;
  readonly left_at_ms?: number;
}

/** Not the core's: `last_seq` and `lost_after` are the stream's, `wakes` the family's, the turn is in the phase. */
export type CoreRow = Readonly<Omit<SessionRow, "turn" | "last_seq" | "lost_after" | "wakes">>;

export interface Turn {
  readonly turn_id: string;
  readonly started_at_ms: number;
  /** Who began it: a client's message, or the agent by itself. */
  readonly origin: "user" | "agent";
  /** The `task_started` notice is out. It waits for the first system_init of a process (wire facts §3). */
  readonly isAnnounced: boolean;
  readonly isThinking: boolean;
  /** The agent was given its message, if it has one: what it ended before was a turn of its own. */
  readonly isGiven: boolean;
  /** Somebody asked to stop it. */
  readonly isInterrupted: boolean;
  readonly firstTokenMs?: number;
  /** Tool calls that were shown and have no result yet, oldest first. */
  readonly openTools: readonly OpenTool[];
  /** The end of what the agent said last. */
  readonly lastText?: string;
  /** How it ends whatever the agent says: set when we end it because of an error. */
  readonly verdict?: { readonly code: string; readonly message: string };
  /** The wake that began it. */
  readonly wake?: QueuedMessage;
}

export interface OpenTool {
  readonly tool_use_id: string;
  /** The call of the sub-agent that made it. */
  readonly parent_tool_use_id?: string;
}

/** `isShown`: it is stored and waits for a person; otherwise it is on its way to the store, or an answer is to the agent. */
export interface OpenRequest extends Pick<RequestRow, "request_id" | "request_type" | "requested_at_ms"> {
  readonly title: string;
  readonly isShown: boolean;
}

/** What waits for a write, and what becomes of it when the disk refuses. */
export type Write = { readonly write_id: string } & (
  | { readonly for: "result" }
  | { readonly for: "job" }
  | { readonly for: "row"; readonly job_id: string }
  | { readonly for: "name"; readonly job_id: string; readonly before: string | undefined }
  | {
      readonly for: "enqueue";
      readonly job_id: string;
      readonly message_id: string;
      readonly stopped_at_ms?: number;
      /** The same message came before; that one is on its way too. */
      readonly isRepeated?: true;
    }
  | {
      readonly for: "cancel";
      readonly job_id: string;
      readonly entry: QueuedMessage;
      readonly follower?: string;
    }
  | { readonly for: "handover"; readonly turn_id: string; readonly entry: QueuedMessage }
);

/** What the shell sees around the session. */
export interface Surroundings {
  /** The disk has not taken something yet, and this session will tell of it. */
  readonly isOwed: boolean;
  /** The daemon stops: nothing is delivered any more. */
  readonly isQuiet: boolean;
  /** The owner or the log can take no more from the agent. */
  readonly isFull: boolean;
}

/** Why something was refused, in the words and codes of the protocol. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly data?: Record<string, unknown> | undefined;
}

export function turnOf({ phase }: SessionState): Turn | undefined {
  return phase.name === "turn" || phase.name === "interrupting" ? phase.turn : undefined;
}

/** The agent is up, or on its way down; not while it starts. */
export function isRunning({ run }: SessionState): boolean {
  return run?.isUp === true;
}

/** It works on behind the turn. */
export function isBusy({ run }: SessionState): boolean {
  return run?.isBusy === true;
}

/** A question waits for a person, or an answer is on its way. */
export function isAsking({ requests }: SessionState): boolean {
  return requests.length > 0;
}

/** Something is going on that must not be cut off: a turn, a question, work in the background. */
export function isEngaged(state: SessionState): boolean {
  return turnOf(state) !== undefined || isAsking(state) || isBusy(state);
}

/** A message waits, or the turn that it began runs. */
export function hasInput({ row }: SessionState): boolean {
  return queued(row).length > 0 || row.inputs?.some(({ state }) => state === "delivered") === true;
}

export function queued({ queue }: Pick<SessionRow, "queue">): readonly QueuedMessage[] {
  return queue ?? [];
}

/** It is closed, or on its way there and cannot turn back. */
export function isClosing({ phase, jobs: [job] }: SessionState): boolean {
  return phase.name === "closed" || (job?.kind === "close" && job.stage !== undefined);
}

/** Nobody will go on talking: no client owns it, and it was not spawned to live by itself. */
export function isForsaken(state: SessionState): boolean {
  return state.owner.client_id === undefined && state.row.managed !== true && !isClosing(state);
}

/** A client is about to own it, or a manager about to make it. */
export function isClaimed({ jobs }: SessionState): boolean {
  return jobs.some(({ kind }) => kind === "open" || kind === "begin");
}

/** Its agent is being ended to make room: that room is somebody else's. */
export function isResting({ jobs: [job] }: SessionState): boolean {
  return job?.kind === "rest" && job.stage !== undefined;
}

/** A result is on its way to the disk. */
export function isSettling({ writes }: SessionState): boolean {
  return writes.some((write) => write.for === "result");
}

/**
 * Since when nothing has been done with it; undefined while something goes on. `heard_at_ms`: when its agent last said
 * anything.
 */
export function idleSince(state: SessionState, heard_at_ms = 0): number | undefined {
  const { owner, row, around } = state;
  if (owner.client_id !== undefined || isClaimed(state)) return undefined;
  // What the disk did not take is told by this session; work in the background goes on although nobody looks.
  if (hasInput(state) || isAsking(state) || around.isOwed || isBusy(state)) return undefined;
  // Spec §5.9: a turn that outlasts the time ends with its session.
  if (row.managed !== true) {
    return owner.left_at_ms === undefined ? undefined : Math.max(owner.left_at_ms, state.calmed_at_ms);
  }
  if (isEngaged(state)) return undefined;
  return Math.max(owner.left_at_ms ?? 0, row.last_active_at_ms, heard_at_ms);
}

/** What is stored of the session now, but for what others own. */
export function rowOf(state: SessionState): CoreRow & Pick<SessionRow, "turn"> {
  const turn = turnOf(state);
  if (turn === undefined) return state.row;
  const { turn_id, started_at_ms, wake } = turn;
  return { ...state.row, turn: { turn_id, started_at_ms, ...(wake === undefined ? {} : { wake }) } };
}
