// Everything that can happen to a session. Inputs carry their time and ids, so replaying a list of them always yields
// the same state.
import type { Ask, Ended, Rewound, Steered } from "../../backends/types.ts";
import type { TurnUse } from "../../protocol/budget.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { BudgetFacts } from "./budget.ts";
import type { Job } from "./jobs.ts";
import type { MarkChange } from "./marks.ts";
import type { NewInput } from "./queue.ts";
import type { QuotaFacts, QuotaOrder } from "./quota.ts";
import type { Failure, OpenRequest, Surroundings, Turn } from "./state.ts";

/** `id` becomes the id of the turn or run that this input starts, if any. */
export type Input = { readonly at_ms: number; readonly id: string } & Happening;

export type Happening = ClientInput | RunInput | OutcomeInput | WorldInput;

/** From clients and managers. */
export type ClientInput =
  | { readonly kind: "job"; readonly job: Job }
  /** Without `client_id` it comes from a manager, which may stop any turn. */
  | { readonly kind: "interrupt"; readonly job_id: string; readonly client_id?: string }
  | { readonly kind: "enqueue"; readonly job_id: string; readonly input: NewInput }
  | { readonly kind: "cancel"; readonly job_id: string; readonly message_id: string }
  | { readonly kind: "mark"; readonly job_id: string; readonly change: MarkChange }
  /** Without `job_id` it comes from the daemon. */
  | { readonly kind: "quota"; readonly job_id?: string; readonly order: QuotaOrder }
  /** Write the row, including fields that others have changed. */
  | { readonly kind: "store"; readonly job_id: string }
  /** Without `client_id`: the current owner. */
  | { readonly kind: "left"; readonly client_id?: string };

/** Reported by the agent's process. */
export type RunInput =
  /** `quota`: with a result that may be due to a limit. */
  | { readonly kind: "event"; readonly event: AgentEvent; readonly quota?: QuotaFacts }
  /** What the turn has used so far. */
  | ({ readonly kind: "used" } & Pick<TurnUse, "usage" | "cost_usd">)
  | { readonly kind: "turn_started" }
  | { readonly kind: "steered"; readonly message_id: string; readonly how: Steered }
  /** The agent does not give back what it was given for its turn. */
  | { readonly kind: "kept"; readonly message_id: string }
  | { readonly kind: "stderr"; readonly line: string }
  | { readonly kind: "auth_failed"; readonly message: string }
  | { readonly kind: "busy"; readonly isBusy: boolean }
  | { readonly kind: "asked"; readonly ask: Ask }
  | { readonly kind: "withdrawn"; readonly native_id: string; readonly because: string }
  | { readonly kind: "native_id"; readonly native_session_id: string }
  | { readonly kind: "ended"; readonly generation: string; readonly why: Ended }
  /** The first input of a session whose agent was adopted. */
  | { readonly kind: "adopted"; readonly run: AdoptedRun }
  /** A call of the earlier daemon that led to nothing stored was made again. */
  | { readonly kind: "repeated"; readonly call: "send" | "interrupt" };

/** An agent of an earlier daemon that is still running, or whose output was not read to its end. */
export interface AdoptedRun {
  readonly generation: string;
  readonly isBusy: boolean;
  readonly hasInit: boolean;
  /** Its requests in the store that are not settled. */
  readonly open: readonly OpenRequest[];
  /** The turn in the stored row. */
  readonly stored?: SessionRow["turn"];
  /** What the agent's output so far says about the turn it is in; absent: it is in none. */
  readonly turn?: Turn;
  /** The agent was given a message that has led to nothing yet; `repeated` follows. */
  readonly isGiven: boolean;
  /** Messages for its turn that it has, or is given again, without a known outcome. */
  readonly steers?: readonly string[];
  /** How many inputs `repeated` follow. */
  readonly toRepeat: number;
  /** It has ended meanwhile: `ended` follows, after the rest of its output. */
  readonly isGone?: true;
}

/** The outcome of an effect. */
export type OutcomeInput =
  | { readonly kind: "started"; readonly generation: string }
  | { readonly kind: "start_failed"; readonly generation: string; readonly failure: Failure }
  | { readonly kind: "stopped"; readonly generation: string }
  | { readonly kind: "interrupted"; readonly generation: string }
  | { readonly kind: "rewound"; readonly job_id: string; readonly outcome: Rewound }
  /** `failure`: the agent did not take the change of settings. */
  | { readonly kind: "adjusted"; readonly job_id: string; readonly failure?: Failure }
  | { readonly kind: "taken"; readonly turn_id: string; readonly job_id?: string; readonly title?: string }
  | {
      readonly kind: "not_taken";
      readonly turn_id: string;
      readonly failure: Failure;
      readonly job_id?: string;
      readonly entry?: QueuedMessage;
    }
  | { readonly kind: "written"; readonly write_id: string; readonly isStored: boolean }
  | { readonly kind: "ledger_settled"; readonly job_id: string }
  | { readonly kind: "timer"; readonly timer: TimerName };

export type WorldInput =
  /** This run's open requests have changed. */
  | { readonly kind: "requests"; readonly generation: string; readonly open: readonly OpenRequest[] }
  | { readonly kind: "around"; readonly around: Surroundings }
  | { readonly kind: "budget"; readonly budget?: BudgetFacts | undefined }
  /** Sent by the shell after effects were performed: take the next step of whatever can proceed. */
  | { readonly kind: "proceed" };

/**
 * `retry`: retries the queue. `verdict`: stops an agent that continues after a fatal error. `reconnect`: clients of the
 * earlier daemon had their time to come back.
 */
export type TimerName = "retry" | "verdict" | "reconnect";
