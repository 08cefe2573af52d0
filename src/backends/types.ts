// The backend interface. One folder implements it; sessions see nothing else of it.
import type * as z from "zod";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { FoundRun } from "../base/runs/adopt.ts";
import type { RunMark } from "../base/runs/mark.ts";
import type { RecordedCall } from "../base/runs/record.ts";
import type { Snapshot } from "../base/runs/snapshots.ts";
import type { TurnUse } from "../protocol/budget.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Answer, RequestPayload, RequestType } from "../protocol/requests.ts";
import type { SessionSummary } from "../protocol/session.ts";
import type { Offers, SettingsChange } from "../protocol/settings.ts";
import type { SessionRights } from "./rights.ts";

export { LEVELS, type LevelName, type SessionRights, WIDEST } from "./rights.ts";

/** Environment variables, some of which may be unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Backend {
  /** The name on the wire. */
  readonly name: string;
  /** Its name for session managers, if different. */
  readonly provider?: string;
  /** The `input_tokens` that it reports include those read from the cache. */
  readonly inputHasCached?: true;
  /** Its results have a cost, whatever the model. */
  readonly reportsCost?: true;
  /** `options.<name>.*`, strict. Used for validation and documentation. */
  readonly options: z.ZodType;
  /**
   * Validates a client's block and returns what is stored and passed to `start`. Throws `invalid_message` or
   * `unsafe_flag` with the path of the bad field.
   */
  checkOptions(block: Record<string, unknown>): Record<string, unknown>;
  /** Options that every agent understands; unsupported ones are omitted. */
  spawnOptions(wish: SpawnWish): Record<string, unknown>;
  /**
   * What a session with these options, as `checkOptions` returns them, may do: its children may not do more. Absent: agents
   * cannot start it.
   */
  rights?(options: Record<string, unknown>): SessionRights;
  /** What its agents can be given at their start. Absent: nothing. */
  readonly extras?: { readonly tools?: boolean; readonly mcp?: boolean } | undefined;
  /** Its runs have `rewind`, as far as is known. Absent: the agent cannot forget turns. */
  readonly canRewind?: boolean;
  /**
   * The account whose limits a session with these options shares with others of this backend. Absent: all sessions share one.
   */
  account?(options: Record<string, unknown>, model: string | undefined): string;
  /** Its agents have `Run.readQuota`. */
  readonly readsQuota?: true;
  /** The agent's version, or undefined if it is missing. Never throws; bounded in time. */
  detect(): Promise<string | undefined>;
  /** Starts the agent; throws `spawn_failed`. The sink may be called before this resolves. */
  start(order: StartOrder, sink: BackendSink): Promise<Run>;
  /**
   * Takes over a process of an earlier daemon, with all of these sessions. Resolves when everything that was read before
   * has been repeated; throws if it cannot. Absent: its agents end with the daemon.
   */
  adopt?(run: FoundRun, sessions: readonly AdoptOrder[]): Promise<void>;
  /** Transcripts that the agent keeps on disk. Absent if it keeps none. */
  listTranscripts?(filter: { cwd?: string }): Promise<SessionSummary[]>;
  /** The newest transcript of this session, in any cwd. */
  findTranscript?(session_id: string): Promise<SessionSummary | undefined>;
  /** Settings that can be changed while a session exists. Absent: none. */
  readonly settings?: BackendSettings;
  /** The same files, for reading. Absent if it keeps none. */
  readonly transcripts?: Transcripts;
  /** Removes the agent's own transcript (only for the blemees/1 dialect). */
  deleteTranscript?(session_id: string, cwd: string | undefined): Promise<void>;
  /** The daemon stops: ends every process that no session holds. Safe to call twice. */
  close?(): Promise<void>;
}

/** Pure. */
export interface BackendSettings {
  /**
   * The options with the change, for every later start. Throws `invalid_message` or `setting_refused`; a running agent may
   * still refuse it (`Run.adjust`).
   */
  change(
    options: Record<string, unknown>,
    change: SettingsChange,
    isRunning: boolean,
  ): Record<string, unknown>;
  /** What is known without the agent. */
  list(options: Record<string, unknown>): Offers;
}

/** Conversations that the agent keeps on disk, also those that it had without the daemon. */
export interface Transcripts {
  /** Opens none of them. */
  list(): Promise<TranscriptFile[]>;
  /** The newest of this id. */
  find(session_id: string): Promise<TranscriptFile | undefined>;
  /** What its first lines say. Undefined: it is no user's conversation, such as a sub-agent's. */
  describe(file: TranscriptFile): Promise<TranscriptHead | undefined>;
  /** For the records of one file, in order. */
  createReader(): TranscriptReader;
  /** Processes that have a conversation open, by its id. Absent: not known. */
  holders?(): Promise<ReadonlyMap<string, number>>;
}

export interface TranscriptFile {
  session_id: string;
  path: string;
  mtime_ms: number;
  size: number;
}

export interface TranscriptHead {
  cwd?: string;
  model?: string;
  /** The start of the user's first message. */
  preview?: string;
}

/** Pure. */
export interface TranscriptReader {
  /** The events of a record. A turn begins with the user's message and ends with an `agent.result`. */
  read(record: JsonObject): AgentEvent[];
  /** What ends the last turn, if the file ends in the middle of it. */
  end(): AgentEvent[];
}

export interface SpawnWish {
  cwd?: string;
  model?: string;
  /** True: ask before acting, unless the agent's own settings say otherwise. False: never ask. */
  approvals: boolean;
}

export interface StartOrder {
  session_id: string;
  /** The agent's own id, once known and different. */
  native_session_id?: string;
  /** Continue the previous conversation instead of starting a new one. */
  resume: boolean;
  /** The conversation started in this daemon, so if there is nothing to resume, a new one is started. */
  began_here: boolean;
  options: Record<string, unknown>;
  /** When the session was created. Absent: unknown. */
  started_at_ms?: number;
  /** This run in the ledger of requests. */
  generation: string;
  /** Tools of the daemon, which the agent calls with `sink.toolCalled`. */
  tools?: readonly ToolSpec[];
  /** MCP servers that the agent connects to, besides its own. Contains secrets. */
  mcp?: readonly GivenMcpServer[];
  /** The agent gets a process that serves no other session: what it starts proves whose it is. */
  own_process?: boolean;
  /** Added to the environment of the process: its identity and how it reaches the daemon. */
  env: Record<string, string>;
  log: Log;
}

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema. */
  inputSchema: JsonObject;
}

/** The agent waits for `Run.returnTool`, or withdraws the call with `sink.withdrawn`. */
export interface ToolCall {
  /** The agent's own id, unique among the open calls and requests of this run. */
  native_id: string;
  name: string;
  input: unknown;
}

export interface ToolOutcome {
  text: string;
  isError?: true;
}

/** A program that the agent starts, or a service. */
export type GivenMcpServer = { name: string } & (
  | { command: string; args: string[]; env: Record<string, string> }
  | { url: string; headers: Record<string, string> }
);

/** A session of a process that is being adopted. */
export interface AdoptOrder extends StartOrder {
  snapshot: Snapshot;
  /** What came from the output before this offset was stored by the earlier daemon. */
  stored_out: number;
  stored_err: number;
  /** What the calls up to this entry of the record led to at once was stored too. */
  stored_n: number;
  /** The backend's name. */
  backend: string;
  /** Receives what was stored already, only to learn from it. */
  past: BackendSink;
  /** A recorded call is about to be made again. */
  called(call: RecordedCall): void;
  /**
   * The past is over; everything from now on is new and goes to the returned sink. Called once. `calls`: those of this
   * session that are still to be repeated.
   */
  live(run: Run, calls: readonly RecordedCall[]): BackendSink;
}

/** Keeps what another daemon needs to take over a run. */
export interface RunKeeper {
  /** How far the agent's output was read; stored together with what it led to. */
  readonly mark: RunMark;
  /** Makes a call of this run, and records it before the agent gets anything of it. */
  record<T>(name: RecordedName, args: unknown[], make: () => T): T;
  /**
   * Writes a snapshot, if the run is at rest and has written this much since the last one. All its reports so far must be
   * stored.
   */
  checkpoint(about: Pick<Snapshot, "has_init" | "last_seq">, minBytes?: number): void;
  /** Resolves when the agent can read everything that was written to it; a process with half a line is not adopted. */
  drained(): Promise<void>;
  /** The session's agent has ended and all of that is stored: no later daemon needs anything of it. */
  release(): void;
}

/** What is repeated when a run is adopted: calls, and what a run did on its own when its time was up. */
export type RecordedName =
  | "return_tool"
  | "steer"
  | "take_back"
  | "send"
  | "answer"
  | "interrupt"
  | "rewind"
  | "adjust"
  | "abandon"
  | "give_up";

/** How the processes that a run's commands start are recognized. */
export interface RunTraces {
  /** Values of BLEMEES_RUN_ID in their environment. Random: no other session can make them up. */
  markers: readonly string[];
  /** The agent's process serves other sessions too, or did. */
  isShared: boolean;
}

/** One running agent. */
export interface Run {
  readonly pid: number | undefined;
  /** Absent: a process of its own, and no marker is known. */
  readonly traces?: RunTraces | undefined;
  /** It takes messages during a turn: it has `steer`. May become true after its first output. */
  readonly canSteer?: boolean;
  /** Absent: it ends with this daemon. */
  readonly keeper?: RunKeeper | undefined;
  /** It works outside a turn: background sub-agents. Absent: only turns are work. */
  readonly isBusy?: boolean;
  /** Sends a user message, which starts a turn. Throws `invalid_message` if the agent cannot take it. */
  send(message: UserMessage, about?: SendAbout): Promise<void>;
  /**
   * Adds a message to the running turn. What became of it is reported with `sink.steered`, once, unless the agent ends
   * first. Never throws.
   */
  steer?(message: UserMessage, message_id: string): void;
  /** Asks for such a message back; the outcome is reported in the same way. Absent: the agent keeps what it has. */
  takeBack?(message_id: string): void;
  /**
   * Ends the running turn. Resolves when the turn's `agent.result` was passed to the sink or the agent has exited;
   * bounded in time.
   */
  interrupt(): Promise<void>;
  /**
   * Sends the answer to a request of `sink.ask`. False: the agent no longer waits for it, and nothing was sent. Rejects
   * if the agent could not be reached: its end is or will be reported. The answer fits the request's choices and is
   * sent at most once. Absent: this agent never asks.
   */
  answer?(native_id: string, answer: Answer): Promise<boolean>;
  /** The same for a call of `sink.toolCalled`. Absent: it makes none. */
  returnTool?(native_id: string, outcome: ToolOutcome): Promise<boolean>;
  /**
   * Removes turns from the agent's conversation: these, oldest first, which are its newest ones. The agent is idle. It is
   * only certain to last once the agent has been stopped with `finish`. Never rejects; bounded in time. Absent: the agent
   * cannot do it.
   */
  rewind?(turns: readonly string[]): Promise<Rewound>;
  /**
   * Asks for the limits of the account, without a turn. Resolves when they were reported with a `rate_limits` notice; false:
   * they are not known. Never rejects; bounded in time.
   */
  readQuota?(): Promise<boolean>;
  /**
   * Applies a change of settings at once, or from the next turn on; `options` has them all. Throws `setting_refused`, and
   * nothing is changed then. Bounded in time. Absent: only a start takes settings.
   */
  adjust?(change: SettingsChange, options: Record<string, unknown>): Promise<void>;
  /** What the running agent offers. Bounded in time; never throws. */
  offers?(): Offers | Promise<Offers>;
  /** Backpressure: stops and resumes reading from the agent. */
  pause(): void;
  resume(): void;
  /**
   * Ends the agent and all its processes. `finish`: closes its input and lets it exit first; `now`: sends signals at
   * once. Resolves when nothing is left; `ended` is reported with `expected: true`.
   */
  stop(how: "finish" | "now"): Promise<void>;
}

export interface SendAbout {
  /** The turn it starts; names the message in the agent's own history, where `rewind` looks for it. */
  turn_id?: string;
  /** How long ago it was sent, if it is repeated. */
  agoMs?: number;
}

/** `taken`: it is part of the running turn. `next`: a turn begins with it now. `returned`: the agent does not have it. */
export type Steered = "taken" | "next" | "returned";

/** `first`: the oldest turn that the agent has forgotten, with all later ones; absent: none. `reason`: why not all. */
export interface Rewound {
  first?: string;
  reason?: string;
}

/** A request of the agent. It waits for `Run.answer`, or withdraws it with `sink.withdrawn`. */
export interface Ask {
  /** The agent's own id, unique among the open requests of this run. */
  native_id: string;
  request_type: RequestType;
  payload: RequestPayload;
  thread_id?: string;
  /** The agent's own turn id. The ledger adds ours. */
  native_turn_id?: string;
  item_id?: string;
  /** The sub-agents from the root down to the one that asks; absent for the session's own agent. */
  path?: string[];
}

export interface Ended {
  /** It was requested. */
  expected: boolean;
  /** For users: the tail of stderr, or the exit code. */
  message: string;
  code?: number;
  signal?: string;
}

/** Where a backend reports to. Calls are synchronous and never throw. */
export interface BackendSink {
  event(event: AgentEvent): void;
  /** The result of a turn comes next. It must be synced to disk first; what came before need not wait for that. */
  ending?(): void;
  /** What the running turn has used so far, in total. The result says it again, and counts. */
  used?(used: Pick<TurnUse, "usage" | "cost_usd">): void;
  /** What became of a message of `Run.steer`. */
  steered?(message_id: string, how: Steered): void;
  /** The agent started a turn on its own. Turns started by `Run.send` are not reported. */
  turnStarted(): void;
  /** One stderr line worth showing. */
  stderr(line: string): void;
  /** The agent cannot authenticate. The turn's result still follows by `event`. */
  authFailed(message: string): void;
  /** `Run.isBusy` became false without an event. */
  calmed(): void;
  ask(ask: Ask): void;
  /** The agent calls one of the daemon's tools (`StartOrder.tools`). */
  toolCalled?(call: ToolCall): void;
  /** The agent withdrew its request or its call (interrupted, decided on its own, …). Unknown ids are ignored. */
  withdrawn(native_id: string, reason: string): void;
  /** The agent's own session id, when it becomes known or changes. */
  nativeId(id: string): void;
  /** The agent has exited. Nothing follows. */
  ended(why: Ended): void;
}
