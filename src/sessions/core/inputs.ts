// Everything that can happen to a session. Time and ids come with it, so that a list of inputs always leads to the same
// state.
import type { Ask, Ended } from "../../backends/types.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { Job } from "./jobs.ts";
import type { NewInput } from "./queue.ts";
import type { Failure, OpenRequest, Surroundings } from "./state.ts";

/** `id` names the turn or the run that begins with this input, if one does. */
export type Input = { readonly at_ms: number; readonly id: string } & Happening;

export type Happening = ClientInput | RunInput | OutcomeInput | WorldInput;

/** Clients and managers. */
export type ClientInput =
  | { readonly kind: "job"; readonly job: Job }
  /** Without `client_id` it is a manager's, who may stop every turn. */
  | { readonly kind: "interrupt"; readonly job_id: string; readonly client_id?: string }
  | { readonly kind: "enqueue"; readonly job_id: string; readonly input: NewInput }
  | { readonly kind: "cancel"; readonly job_id: string; readonly message_id: string }
  | { readonly kind: "rename"; readonly job_id: string; readonly name: string | null }
  /** The row, as others have changed their part of it, is to be on the disk. */
  | { readonly kind: "store"; readonly job_id: string }
  /** Without `client_id` it is whoever owns it. */
  | { readonly kind: "left"; readonly client_id?: string };

/** What the agent's run reports. */
export type RunInput =
  | { readonly kind: "event"; readonly event: AgentEvent }
  | { readonly kind: "turn_started" }
  | { readonly kind: "stderr"; readonly line: string }
  | { readonly kind: "auth_failed"; readonly message: string }
  | { readonly kind: "busy"; readonly isBusy: boolean }
  | { readonly kind: "asked"; readonly ask: Ask }
  | { readonly kind: "withdrawn"; readonly native_id: string; readonly because: string }
  | { readonly kind: "native_id"; readonly native_session_id: string }
  | { readonly kind: "ended"; readonly generation: string; readonly why: Ended };

/** What became of an effect. */
export type OutcomeInput =
  | { readonly kind: "started"; readonly generation: string }
  | { readonly kind: "start_failed"; readonly generation: string; readonly failure: Failure }
  | { readonly kind: "stopped"; readonly generation: string }
  | { readonly kind: "interrupted"; readonly generation: string }
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
  /** What this run asks is not what it was. */
  | { readonly kind: "requests"; readonly generation: string; readonly open: readonly OpenRequest[] }
  | { readonly kind: "around"; readonly around: Surroundings }
  /** The shell has done what was asked: whatever can go on now goes on, one step at a time. */
  | { readonly kind: "proceed" };

/** `retry`: the queue is tried again. `verdict`: an agent that goes on after a fatal error is stopped. */
export type TimerName = "retry" | "verdict";
