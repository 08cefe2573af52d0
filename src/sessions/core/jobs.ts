// Operations that start or stop a session's agent. They run one at a time: two at once could start two agents, or reach
// one that is exiting. `stage` says what a running job is waiting for; job-steps.ts executes them.
import type { Rewound } from "../../backends/types.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SettingsChange } from "../../protocol/settings.ts";

export type Job =
  | OpenJob
  | SendJob
  | BeginJob
  | RestJob
  | HaltJob
  | RewindJob
  | CloseJob
  | InterruptJob
  | AdjustJob
  | DeliverJob
  | ReleaseJob
  | WarmJob;

/** Absent: not started. */
export type Stage = "starting" | "stopping" | "writing" | "asking";

interface Asked {
  /** The caller to answer. */
  readonly job_id: string;
  readonly stage?: Stage;
  /** The write it is waiting for. */
  readonly write_id?: string;
  /** Whether that write succeeded. */
  readonly isStored?: boolean;
}

/** Makes a client the owner, with the agent running. If it fails, the previous owner keeps the session. */
export interface OpenJob extends Asked {
  readonly kind: "open";
  readonly client_id: string;
  /** The client disconnected in the meantime. */
  readonly isGone: boolean;
  readonly resume: boolean;
  readonly last_seen_seq?: number;
  readonly answers?: "owner" | "any";
  readonly options?: Record<string, unknown>;
  /** Of the directory in `options`. */
  readonly project?: string;
  /** Options that take effect once the agent runs with them. */
  readonly adopted?: Partial<Pick<SessionRow, "options" | "cwd" | "project">>;
}

/** A message from the owner; starts a turn. */
export interface SendJob extends Asked {
  readonly kind: "send";
  readonly client_id: string;
  readonly message: UserMessage;
  /** Something has to be done before its turn, such as a checkpoint: it is stored meanwhile, as a queued message is. */
  readonly isPrepared?: true;
}

/** Starts the agent of an unowned session and stores its row. If it fails, the session never existed. */
export interface BeginJob extends Asked {
  readonly kind: "begin";
}

/** Stops an idle agent; the next message starts it again. */
export interface RestJob extends Asked {
  readonly kind: "rest";
}

/** Stops the agent until the next message or open. */
export interface HaltJob extends Asked {
  readonly kind: "halt";
  /** Requested by its parent, which therefore is not notified. */
  readonly isAsked: boolean;
}

/** Lets the idle agent forget its newest turns. It is stopped then, which makes that last, and started again if it was up. */
export interface RewindJob extends Asked {
  readonly kind: "rewind";
  /** Oldest first. */
  readonly turns: readonly NumberedTurn[];
  /** The agent was not started for it. */
  readonly wasUp?: boolean;
  readonly outcome?: Rewound;
}

/** `turn`: as people count them. */
export interface NumberedTurn {
  readonly turn: number;
  readonly turn_id: string;
}

/** Closes the session, if `if` still holds when the job runs. */
export interface CloseJob extends Asked {
  readonly kind: "close";
  readonly reason: string;
  readonly if: CloseCondition;
}

/** `abandoned`: no owner and no message queued or running. `idle`: nothing to do, so the idle timeout may close it. */
export type CloseCondition = "always" | "abandoned" | "idle" | { readonly owner: string };

/** An interrupt aimed at a message whose turn has not started yet. */
export interface InterruptJob extends Asked {
  readonly kind: "interrupt";
  readonly client_id: string;
}

/** Changes settings of the running agent, and of every later start. */
export interface AdjustJob extends Asked {
  readonly kind: "adjust";
  readonly change: SettingsChange;
  /** With the change. */
  readonly options: SessionRow["options"];
  /** Those that it was made from. */
  readonly before: SessionRow["options"];
}

/** Delivers the next queued message. */
export interface DeliverJob {
  readonly kind: "deliver";
  readonly stage?: Stage;
}

/** Stops an unowned agent that has nothing to do. */
export interface ReleaseJob {
  readonly kind: "release";
  readonly how: "finish" | "now";
  readonly stage?: Stage;
}

/** Restarts an agent that was killed by an interrupt, so that the next turn starts warm. */
export interface WarmJob {
  readonly kind: "warm";
  /** Nobody has this agent's slot yet. */
  readonly needsRoom?: true;
  readonly waiters: readonly string[];
  readonly stage?: Stage;
}
