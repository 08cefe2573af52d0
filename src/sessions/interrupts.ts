// Stopping the turn of an agent. One attempt at a time: whoever asks meanwhile joins it. Whoever starts or ends the
// agent waits for `calm` first.
import type { Run } from "../backends/types.ts";
import { CodedError, messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Turn } from "./turn.ts";

/** The agent and its turn, as they are at the moment of asking. */
export interface Interruptible {
  readonly run: Run | undefined;
  readonly turn: Turn | undefined;
  /** A paused agent could not answer. */
  release(): void;
  /** The agent will say no more of it. */
  cut(): void;
  /** Somebody is there who will go on talking, so a killed agent is started again at once. */
  keepWarm(): boolean;
  restart(): Promise<unknown>;
  log: Log;
}

export class Interrupts {
  readonly #of: Interruptible;
  #running: Promise<void> | undefined;

  constructor(of: Interruptible) {
    this.#of = of;
  }

  /** Resolves when no interrupt is under way. */
  async calm(): Promise<void> {
    await this.#running;
  }

  /** Stops the turn and, if that cost the agent its life, starts it again, so that the next turn is warm. */
  stopTurn(): Promise<void> {
    this.#running ??= this.#stop().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #stop(): Promise<void> {
    const of = this.#of;
    let turn: Turn | undefined;
    do {
      turn = of.turn;
      await this.#stopOne(turn);
      // The agent may have begun another one meanwhile, and somebody may have asked to stop that too.
    } while (of.turn?.interrupting === true && of.turn !== turn);
    if (of.run !== undefined || !of.keepWarm()) return;
    await of.restart().catch((error: unknown) =>
      // Not its message: that can hold the agent's own words (spec §10).
      of.log.warn("session.respawn_failed", { code: error instanceof CodedError ? error.code : "internal" }),
    );
  }

  async #stopOne(turn: Turn | undefined): Promise<void> {
    const of = this.#of;
    const { run } = of;
    if (run !== undefined) {
      of.release();
      await run
        .interrupt()
        .catch((error: unknown) => of.log.error("session.interrupt_failed", { message: messageOf(error) }));
    }
    // Not a turn that the agent has begun since.
    if (turn !== undefined && of.turn === turn) of.cut();
  }
}
