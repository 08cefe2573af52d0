// Everything a session can ask its shell to do. Effects are performed in order; outcomes come back as inputs.
import type { Ask, Rewound } from "../../backends/types.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SettingsChange } from "../../protocol/settings.ts";
import type { TimerName } from "./inputs.ts";
import type { Failure } from "./state.ts";

export type Effect = RunEffect | StreamEffect | LedgerEffect | ReplyEffect | OtherEffect;

export type RunEffect =
  /** `needsRoom`: subject to the session limit. `options`: the stored ones, or new ones to try. */
  | {
      kind: "start";
      generation: string;
      resume: boolean;
      needsRoom: boolean;
      options: SessionRow["options"];
    }
  | { kind: "stop"; generation: string; how: "finish" | "now" }
  | { kind: "interrupt"; generation: string }
  | {
      kind: "adjust";
      generation: string;
      job_id: string;
      change: SettingsChange;
      options: SessionRow["options"];
    }
  | { kind: "pause"; isPaused: boolean }
  | { kind: "rewind"; job_id: string; turns: readonly string[] }
  /** Adds a message to the running turn. */
  | { kind: "steer"; message: UserMessage; message_id: string }
  | { kind: "take_back"; message_id: string }
  /** `job_id`, `entry`: where the message came from, for the outcome. */
  | { kind: "give"; turn_id: string; message: UserMessage; job_id?: string; entry?: QueuedMessage };

export type StreamEffect =
  /** `isSynced`: must be on disk before anyone sees it. */
  | { kind: "publish"; frame: object; isSynced?: true }
  | { kind: "save" }
  /** Like `save`, and reports the outcome. */
  | {
      kind: "write";
      write_id: string;
      /** The turn whose message is given after it, and after what has to be done before that turn. */
      before?: string;
    }
  /** Reports when everything published and saved so far has been written. */
  | { kind: "settle"; write_id: string };

export type LedgerEffect =
  | { kind: "ask"; ask: Ask }
  | { kind: "withdraw"; native_id: string; reason: string }
  /** The turn was interrupted: withdraw all of its requests. */
  | { kind: "withdraw_all" }
  /** This process is gone: nobody can receive answers to its requests. */
  | { kind: "orphan"; generation: string; message: string; code?: "server_restarted" }
  | { kind: "settle_ledger"; job_id: string };

export type ReplyEffect =
  | { kind: "reply"; job_id: string; reply: Reply }
  | { kind: "refuse"; job_id: string; failure: Failure }
  | { kind: "acknowledge"; job_id: string; was_idle: boolean }
  /** Remembers the current seq: the client receives everything after it. */
  | { kind: "mark"; job_id: string }
  | { kind: "own"; job_id: string; resume: boolean; last_seen_seq?: number };

export type Reply =
  | undefined
  | boolean
  | Rewound
  | { input: InputRecord; position: number; repeated: boolean; note?: string }
  | { input: InputRecord };

export type OtherEffect =
  | { kind: "disown" }
  /** Ends the stream and notifies subscribers; nothing follows. */
  | { kind: "close"; reason: string }
  | { kind: "set_timer"; name: TimerName; ms: number }
  | { kind: "clear_timer"; name: TimerName }
  /** A turn has its result, already in the row. `goesOn`: more is queued, or background work continues. */
  | { kind: "turn_ended"; result: ResultEvent; goesOn: boolean }
  | { kind: "input_failed"; message_id: string; error: { code: string; message: string } }
  | { kind: "input_changed"; input: InputRecord }
  | { kind: "log"; level: "info" | "warn"; event: string; fields?: Record<string, unknown> };
