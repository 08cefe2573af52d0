// What the earlier daemon knew of an adopted agent: learned from the reports and calls that are repeated. Everything here
// is stored already; only facts about what is still open are kept.
import type { Ask, BackendSink, Steered, ToolCall } from "../../backends/types.ts";
import type { RecordedCall } from "../../base/runs/record.ts";
import type { TurnUse } from "../../protocol/budget.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import type { Turn } from "../core/state.ts";
import { createTurn, noteEvent } from "../core/turn.ts";

export class Past implements BackendSink {
  hasInit = false;
  /** The turn that the agent is in. Its id and times are in the stored row. */
  turn: Turn | undefined;
  /** Unanswered requests, by native id. */
  readonly asks = new Map<string, Ask>();
  /** Calls of the daemon's tools without a result, by native id. */
  readonly calls = new Map<string, ToolCall>();
  /** The agent no longer waits for these, and why. */
  readonly withdrawals = new Map<string, string>();
  /** These were answered. */
  readonly answered = new Set<string>();
  /** Messages for the running turn, with the agent. */
  readonly steers = new Set<string>();

  readonly #seen: (event: AgentEvent) => void;

  /** `seen`: for others that must know what happened. */
  constructor(hasInit: boolean, seen: (event: AgentEvent) => void = () => undefined) {
    this.hasInit = hasInit;
    this.#seen = seen;
  }

  /** A call that was made before. */
  called({ name, args }: RecordedCall): void {
    if (name === "send") this.turn = createTurn("", Date.now(), "user");
    else if (name === "interrupt" && this.turn !== undefined)
      this.turn = { ...this.turn, isInterrupted: true };
    else if (name === "answer") this.noteAnswer(String(args[0]));
    else if (name === "return_tool") this.calls.delete(String(args[0]));
    else if (name === "steer") this.steers.add(String(args[1]));
  }

  noteAnswer(native_id: string): void {
    this.answered.add(native_id);
    this.asks.delete(native_id);
  }

  event(event: AgentEvent): void {
    this.#seen(event);
    if (event.type === "agent.system_init") this.hasInit = true;
    else if (event.type === "agent.result") this.#endTurn(event);
    else if (this.turn !== undefined) this.turn = noteEvent(this.turn, event, Date.now());
  }

  used(used: Pick<TurnUse, "usage" | "cost_usd">): void {
    if (this.turn !== undefined) this.turn = { ...this.turn, used: { ...used, at_ms: Date.now() } };
  }

  steered(message_id: string, how: Steered): void {
    this.steers.delete(message_id);
    if (how === "next") this.turn ??= createTurn("", Date.now(), "user");
  }

  turnStarted(): void {
    this.turn ??= createTurn("", Date.now(), "agent");
  }

  ask(ask: Ask): void {
    const { native_id } = ask;
    // Some agents use an id again.
    this.answered.delete(native_id);
    this.withdrawals.delete(native_id);
    this.asks.set(native_id, ask);
  }

  toolCalled(call: ToolCall): void {
    this.calls.set(call.native_id, call);
  }

  withdrawn(native_id: string, reason: string): void {
    if (this.calls.delete(native_id)) return;
    this.asks.delete(native_id);
    this.withdrawals.set(native_id, reason);
  }

  /** An interrupted turn takes its requests with it. */
  #endTurn(result: ResultEvent): void {
    const isInterrupted =
      result.subtype === "interrupted" || (result.subtype === "error" && this.turn?.isInterrupted === true);
    if (isInterrupted) for (const id of [...this.asks.keys()]) this.withdrawn(id, "the turn was interrupted");
    this.turn = undefined;
  }

  stderr(): void {}
  authFailed(): void {}
  calmed(): void {}
  nativeId(): void {}
  ended(): void {}
}
