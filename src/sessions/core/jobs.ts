// What is done with a session one after another, because it starts or ends its agent: two of these at once could start
// two agents, or meet a dying one. `stage` says what a job that is under way waits for; job-steps.ts carries it out.
import type { UserMessage } from "../../protocol/content.ts";
import type { SessionRow } from "../../protocol/session.ts";

export type Job =
  | OpenJob
  | SendJob
  | BeginJob
  | RestJob
  | HaltJob
  | CloseJob
  | InterruptJob
  | DeliverJob
  | ReleaseJob
  | WarmJob;

/** Absent: it has not begun. */
export type Stage = "starting" | "stopping" | "writing" | "asking";

interface Asked {
  /** Who waits for the outcome. */
  readonly job_id: string;
  readonly stage?: Stage;
  /** The write that it waits for. */
  readonly write_id?: string;
  /** Whether the disk took that. */
  readonly isStored?: boolean;
}

/** A client wants to own it, with its agent running. If that fails, nobody has lost anything. */
export interface OpenJob extends Asked {
  readonly kind: "open";
  readonly client_id: string;
  /** The client went away meanwhile. */
  readonly isGone: boolean;
  readonly resume: boolean;
  readonly last_seen_seq?: number;
  readonly answers?: "owner" | "any";
  readonly options?: Record<string, unknown>;
  /** What counts once the agent runs with it. */
  readonly adopted?: Partial<Pick<SessionRow, "options" | "cwd">>;
}

/** The owner's message, which begins a turn. */
export interface SendJob extends Asked {
  readonly kind: "send";
  readonly client_id: string;
  readonly message: UserMessage;
}

/** Starts the agent of a session that nobody owns, and stores what it is. If that fails, it never was. */
export interface BeginJob extends Asked {
  readonly kind: "begin";
}

/** Ends an agent that has nothing to do; the next message starts it again. */
export interface RestJob extends Asked {
  readonly kind: "rest";
}

/** Ends the agent until somebody sends a message or opens the session again. */
export interface HaltJob extends Asked {
  readonly kind: "halt";
  /** Its parent wants it, so it is not told. */
  readonly isAsked: boolean;
}

/** Ends the session for good, if that is still right when its turn comes. */
export interface CloseJob extends Asked {
  readonly kind: "close";
  readonly reason: string;
  readonly if: CloseCondition;
}

/** `abandoned`: nobody owns it and no message is on its way. `idle`: nothing has been done with it for a while. */
export type CloseCondition = "always" | "abandoned" | "idle" | { readonly owner: string };

/** An interrupt that means a message whose turn has not begun yet. */
export interface InterruptJob extends Asked {
  readonly kind: "interrupt";
  readonly client_id: string;
}

/** Brings the next message of the queue to the agent. */
export interface DeliverJob {
  readonly kind: "deliver";
  readonly stage?: Stage;
}

/** Ends an agent that nobody owns and that has nothing to do. */
export interface ReleaseJob {
  readonly kind: "release";
  readonly how: "finish" | "now";
  readonly stage?: Stage;
}

/** Starts an agent again that an interrupt has cost its life, so that the next turn is warm. */
export interface WarmJob {
  readonly kind: "warm";
  readonly waiters: readonly string[];
  readonly stage?: Stage;
}
