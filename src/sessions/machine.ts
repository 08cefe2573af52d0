// Drives a session's reducer: takes one input at a time and performs its effects in order. Inputs caused by an effect
// are queued. When the queue is empty, `proceed` continues whatever the state allows, step by step.
import { makeHexId } from "../base/id.ts";
import { deriveActivity } from "./core/activity.ts";
import type { Effect } from "./core/effects.ts";
import type { Happening, Input } from "./core/inputs.ts";
import { mayProceed, reduceAt } from "./core/reduce.ts";
import { getTurn, isBusy, isSettling, type SessionState } from "./core/state.ts";

export interface MachineParts {
  perform(effect: Effect): void;
  /** The stored row has changed; called before effects that may write it. */
  projected(state: SessionState, before: SessionState): void;
  /** Something that views show has changed. */
  changed(): void;
  /** Inputs are ignored: the daemon leaves its agents to the next one. */
  isAbandoned(): boolean;
  /** Records inputs and effects for a bug report. */
  record?: ((input: Input, effects: readonly Effect[]) => void) | undefined;
}

const PROCEED: Happening = { kind: "proceed" };

export class Machine {
  readonly #parts: MachineParts;
  readonly #waiting: Happening[] = [];
  #state: SessionState;
  #isTaking = false;
  #isLater = false;
  #id = makeHexId();

  constructor(state: SessionState, parts: MachineParts) {
    this.#state = state;
    this.#parts = parts;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** An input is being processed; new ones are queued. */
  get isTaking(): boolean {
    return this.#isTaking;
  }

  take(happening: Happening): void {
    if (this.#parts.isAbandoned()) return;
    this.#waiting.push(happening);
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      let next = this.#waiting.shift();
      while (next !== undefined) {
        const came = this.#step(next);
        if (came === "reply") this.#proceedLater();
        next = this.#waiting.shift() ?? (came === "more" ? this.#goOn() : undefined);
      }
    } finally {
      this.#isTaking = false;
    }
  }

  #goOn(): Happening | undefined {
    return !this.#isLater && mayProceed(this.#state) ? PROCEED : undefined;
  }

  /** Lets callers see their answer before the next job starts. */
  #proceedLater(): void {
    if (this.#isLater) return;
    this.#isLater = true;
    setImmediate(() => {
      this.#isLater = false;
      this.take({ kind: "proceed" });
    });
  }

  #step(happening: Happening): "nothing" | "more" | "reply" {
    const before = this.#state;
    const when = { at_ms: Date.now(), id: this.#id };
    const { state, effects } = reduceAt(before, happening, when);
    if (this.#parts.record !== undefined && (happening.kind !== "proceed" || state !== before)) {
      this.#parts.record({ ...happening, ...when }, effects);
    }
    if (state === before && effects.length === 0) return happening.kind === "proceed" ? "nothing" : "more";
    this.#state = state;
    if (state.row !== before.row || isTurnChanged(before, state)) this.#parts.projected(state, before);
    for (const effect of effects) this.#parts.perform(effect);
    // Afterwards: a message should not wait for it.
    const turn_id = getTurn(state)?.turn_id;
    if (turn_id === when.id || state.run?.generation === when.id) this.#id = makeHexId();
    if (looksDifferent(before, state)) this.#parts.changed();
    return effects.some(isReply) ? "reply" : "more";
  }
}

/** What the row says about it. */
function isTurnChanged(before: SessionState, state: SessionState): boolean {
  const [old, turn] = [getTurn(before), getTurn(state)];
  return old?.turn_id !== turn?.turn_id || old?.isAnnounced !== turn?.isAnnounced || old?.used !== turn?.used;
}

function isReply({ kind }: Effect): boolean {
  return kind === "reply" || kind === "refuse" || kind === "own";
}

function looksDifferent(before: SessionState, state: SessionState): boolean {
  return (
    before.row !== state.row ||
    before.held !== state.held ||
    getTurn(before)?.used !== getTurn(state)?.used ||
    isBusy(before) !== isBusy(state) ||
    isSettling(before) !== isSettling(state) ||
    before.owner !== state.owner ||
    deriveActivity(before) !== deriveActivity(state)
  );
}
