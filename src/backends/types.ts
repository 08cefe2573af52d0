// What a backend is. One folder implements it; the sessions see nothing else of it.
import type * as z from "zod";
import type { Log } from "../base/log.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Answer, RequestPayload, RequestType } from "../protocol/requests.ts";
import type { SessionSummary } from "../protocol/session.ts";

export interface Backend {
  /** The name on the wire. */
  readonly name: string;
  /** What session managers call it, where that differs. */
  readonly provider?: string;
  /** `options.<name>.*`, strict. Used for checking and for the documentation. */
  readonly options: z.ZodType;
  /**
   * Checks a client's block and gives back what is stored and passed to `start`.
   * Throws `invalid_message` or `unsafe_flag` with the path of the bad field.
   */
  checkOptions(block: Record<string, unknown>): Record<string, unknown>;
  /** The options that mean what every agent understands; what it does not know of is left out. */
  spawnOptions(wish: SpawnWish): Record<string, unknown>;
  /** The version of the agent, or undefined when it is not there. Never throws; bounded in time. */
  detect(): Promise<string | undefined>;
  /** Starts the agent; throws `spawn_failed`. The sink may be called before this resolves. */
  start(order: StartOrder, sink: BackendSink): Promise<Run>;
  /** Transcripts that the agent itself keeps on disk. Absent when it keeps none. */
  listTranscripts?(filter: { cwd?: string }): Promise<SessionSummary[]>;
  /** The newest transcript of this session, in whatever cwd. */
  findTranscript?(session_id: string): Promise<SessionSummary | undefined>;
  /** Removes the agent's own transcript (only the blemees/1 dialect asks for it). */
  deleteTranscript?(session_id: string, cwd: string | undefined): Promise<void>;
  /** The daemon ends: every process that no session holds any more is ended too. Safe to call twice. */
  close?(): Promise<void>;
}

export interface SpawnWish {
  cwd?: string;
  model?: string;
  /** True: ask before acting, as far as the agent's own settings do not say otherwise. False: never ask. */
  approvals: boolean;
}

export interface StartOrder {
  session_id: string;
  /** The agent's own id, once it is known and differs. */
  native_session_id?: string;
  /** Continue what was said before, instead of a fresh conversation. */
  resume: boolean;
  /** The conversation began in this daemon, so finding nothing to resume is no error: begin it then. */
  began_here: boolean;
  options: Record<string, unknown>;
  /** When the session was made. Absent: not known. */
  started_at_ms?: number;
  /** Added to the environment of the process: who it is and how it reaches the daemon. */
  env: Record<string, string>;
  log: Log;
}

/** One live agent. */
export interface Run {
  readonly pid: number | undefined;
  /** It works although no turn runs: sub-agents that go on behind it. Absent: only turns are work. */
  readonly isBusy?: boolean;
  /** Hands over a user message, which starts a turn. Throws `invalid_message` if the agent cannot take it. */
  send(message: UserMessage): Promise<void>;
  /**
   * Ends the running turn. Resolves when the turn's `agent.result` was given to the sink or the agent has
   * ended; bounded in time, so it never hangs.
   */
  interrupt(): Promise<void>;
  /**
   * Hands over the answer to what was asked with `sink.ask`. False: the agent waits for it no more, and nothing was
   * sent. Rejects when the agent could not be reached: its end will be told, or is near. The answer fits the choices of
   * the request; it is given at most once. Absent: this agent never asks.
   */
  answer?(native_id: string, answer: Answer): Promise<boolean>;
  /** Backpressure: stop and go on reading from the agent. */
  pause(): void;
  resume(): void;
  /**
   * Ends the agent and everything it started. `finish`: let it close by itself (end of input) first;
   * `now`: signals at once. Resolves when nothing is left; `ended` is reported with `expected: true`.
   */
  stop(how: "finish" | "now"): Promise<void>;
}

/** What the agent asks of a person. It waits until `Run.answer`, or takes it back by `sink.withdrawn`. */
export interface Ask {
  /** The agent's own id, unique among what is open in this run. */
  native_id: string;
  request_type: RequestType;
  payload: RequestPayload;
  thread_id?: string;
  /** The agent's own name for the turn. The ledger adds ours. */
  native_turn_id?: string;
  item_id?: string;
  /** The sub-agents from the root down to the one that asks; absent for the session's own agent. */
  path?: string[];
}

export interface Ended {
  /** We asked for it. */
  expected: boolean;
  /** What to tell people: the tail of stderr, or the exit code. */
  message: string;
  code?: number;
  signal?: string;
}

/** Where a backend reports to. Calls are synchronous and never throw. */
export interface BackendSink {
  event(event: AgentEvent): void;
  /** The agent began a turn by itself. Turns that `Run.send` starts are not reported. */
  turnStarted(): void;
  /** One line of stderr that is worth showing. */
  stderr(line: string): void;
  /** The agent cannot authenticate. The turn's result still follows by `event`. */
  authFailed(message: string): void;
  /** `Run.isBusy` became false, and no event says so. */
  calmed(): void;
  ask(ask: Ask): void;
  /** The agent takes back what it asked (it was interrupted, it decided by itself, …). Unknown ids are ignored. */
  withdrawn(native_id: string, reason: string): void;
  /** The agent's own session id, when it becomes known or changes. */
  nativeId(id: string): void;
  /** The agent is gone. Nothing follows. */
  ended(why: Ended): void;
}
