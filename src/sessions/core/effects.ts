// Everything a session can ask for. The shell performs effects in order; what comes of them is an input (inputs.ts).
import type { Ask } from "../../backends/types.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { TimerName } from "./inputs.ts";
import type { Failure } from "./state.ts";

export type Effect = RunEffect | StreamEffect | LedgerEffect | ReplyEffect | OtherEffect;

export type RunEffect =
  /** `needsRoom`: only if there may be one more agent. `options`: those of the row, or new ones that are tried. */
  | {
      kind: "start";
      generation: string;
      resume: boolean;
      needsRoom: boolean;
      options: SessionRow["options"];
    }
  | { kind: "stop"; generation: string; how: "finish" | "now" }
  | { kind: "interrupt"; generation: string }
  | { kind: "pause"; isPaused: boolean }
  /** `job_id`, `entry`: whose message it is, for the outcome. */
  | { kind: "give"; turn_id: string; message: UserMessage; job_id?: string; entry?: QueuedMessage };

export type StreamEffect =
  /** `isSynced`: the disk must have it before anybody sees it. */
  | { kind: "publish"; frame: object; isSynced?: true }
  | { kind: "save" }
  /** The same, and its outcome is told. */
  | { kind: "write"; write_id: string }
  /** Told when all that was published and saved so far is settled. */
  | { kind: "settle"; write_id: string };

export type LedgerEffect =
  | { kind: "ask"; ask: Ask }
  | { kind: "withdraw"; native_id: string; reason: string }
  /** The turn was interrupted: its agent waits for nothing any more. */
  | { kind: "withdraw_all" }
  /** This life of the agent is over: what it asked reaches nobody. */
  | { kind: "orphan"; generation: string; message: string }
  | { kind: "settle_ledger"; job_id: string };

export type ReplyEffect =
  | { kind: "reply"; job_id: string; reply: Reply }
  | { kind: "refuse"; job_id: string; failure: Failure }
  | { kind: "acknowledge"; job_id: string; was_idle: boolean }
  /** Where the stream stands when the agent is started for this client: what follows is for it. */
  | { kind: "mark"; job_id: string }
  | { kind: "own"; job_id: string; resume: boolean; last_seen_seq?: number };

export type Reply =
  | undefined
  | boolean
  | { input: InputRecord; position: number; repeated: boolean }
  | { input: InputRecord };

export type OtherEffect =
  | { kind: "disown" }
  /** Nothing follows: the stream ends, and who listens is told why. */
  | { kind: "close"; reason: string }
  | { kind: "set_timer"; name: TimerName; ms: number }
  | { kind: "clear_timer"; name: TimerName }
  /** A turn has its result, and the row says so. `goesOn`: more is queued, or the agent works on behind the turn. */
  | { kind: "turn_ended"; result: ResultEvent; goesOn: boolean }
  | { kind: "input_failed"; message_id: string; error: { code: string; message: string } }
  | { kind: "input_changed"; input: InputRecord }
  | { kind: "log"; level: "info" | "warn"; event: string; fields?: Record<string, unknown> };
