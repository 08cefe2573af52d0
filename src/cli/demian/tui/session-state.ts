// The session as a manager would see it, counted from its events: what the state panel of the screen shows.
import type { ActivityState } from "../../../protocol/session.ts";
import { USAGE_KEYS, type Usage } from "../../../protocol/usage.ts";
import type { SessionView } from "../../../protocol/views.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { TurnReport } from "../../../runtime/session-types.ts";
import { BACKEND, usageOf } from "./event-frames.ts";

export interface Turn {
  turn_id: string;
  started_at_ms: number;
}

export interface Around {
  cwd: string;
  model: string;
  queued: number;
  /** What waits for a person: decisions and answers. */
  waiting: { permissions: number; questions: number };
}

export class SessionState {
  readonly #session_id: string;
  readonly #startedAtMs = Date.now();
  #lastActiveAtMs = this.#startedAtMs;
  #turn: Turn | undefined;
  #isThinking = false;
  #turns = 0;
  #usage: Usage = {};
  #costUsd: number | undefined;
  #contextTokens = 0;
  #isClosed = false;

  constructor(session_id: string) {
    this.#session_id = session_id;
  }

  begin(nowMs: number): Turn {
    this.#turns += 1;
    this.#turn = { turn_id: `turn_${this.#turns}`, started_at_ms: nowMs };
    return this.#turn;
  }

  /** True: the state that is shown has changed. */
  see(event: RuntimeEvent): boolean {
    this.#lastActiveAtMs = event.ts;
    if (event.parentCallId !== undefined) return false;
    if (event.type === "context.compiled") return this.#context(event.estimatedTokens);
    if (event.type === "context.compacted") return this.#context(event.afterTokens);
    if (event.type === "model.reasoning.delta") return this.#thinking(true);
    return event.type.startsWith("model.") || event.type.startsWith("tool.") ? this.#thinking(false) : false;
  }

  /** The turn that has ended. */
  end(report: TurnReport): Turn | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    this.#isThinking = false;
    const more = usageOf(report.usage);
    for (const key of USAGE_KEYS) {
      const count = (this.#usage[key] ?? 0) + (more[key] ?? 0);
      if (count > 0) this.#usage = { ...this.#usage, [key]: count };
    }
    const { costUsd } = report.usage;
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    return turn;
  }

  close(): void {
    this.#isClosed = true;
    this.#turn = undefined;
  }

  view({ cwd, model, queued, waiting }: Around): SessionView {
    const pending = waiting.permissions + waiting.questions;
    return {
      session_id: this.#session_id,
      backend: BACKEND,
      provider: BACKEND,
      cwd,
      ...(model === "" ? {} : { model }),
      children: [],
      managed: false,
      activity_state: this.#activity(waiting),
      attached: true,
      running: !this.#isClosed,
      ...(this.#turn === undefined ? {} : { turn: { ...this.#turn } }),
      stalled: false,
      pending_requests: pending,
      family_pending_requests: pending,
      queued,
      turns: this.#turns,
      usage: this.#usage,
      context_tokens: this.#contextTokens,
      ...(this.#costUsd === undefined ? {} : { cost_usd: this.#costUsd }),
      started_at_ms: this.#startedAtMs,
      last_active_at_ms: this.#lastActiveAtMs,
      last_seq: 0,
    };
  }

  #activity({ permissions, questions }: Around["waiting"]): ActivityState {
    if (this.#isClosed) return "stopped";
    if (permissions > 0) return "waiting_permission";
    if (questions > 0) return "waiting_input";
    if (this.#turn === undefined) return "idle";
    return this.#isThinking ? "thinking" : "working";
  }

  #context(tokens: number): boolean {
    const isNew = tokens !== this.#contextTokens;
    this.#contextTokens = tokens;
    return isNew;
  }

  #thinking(isThinking: boolean): boolean {
    const isNew = isThinking !== this.#isThinking;
    this.#isThinking = isThinking;
    return isNew;
  }
}
