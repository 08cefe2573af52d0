// Performs effects with the agent, stream, ledger, audience, timers and pending replies. Outcomes go back to the core
// as inputs.
import type { Log } from "../base/log.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Agent } from "./agent/agent.ts";
import type { Effect, LedgerEffect } from "./core/effects.ts";
import type { Happening, TimerName } from "./core/inputs.ts";
import type { PendingReplies } from "./replies.ts";
import type { SessionContext } from "./session-types.ts";
import type { Audience } from "./stream/audience.ts";
import type { Stream } from "./stream/stream.ts";

export interface PerformerParts
  extends Pick<SessionContext, "publisher" | "ledger" | "hooks" | "inputChanged"> {
  row: SessionRow;
  stream: Stream;
  agent: Agent;
  audience: Audience;
  replies: PendingReplies;
  log: Log;
  take(happening: Happening): void;
}

export class Performer {
  readonly #parts: PerformerParts;
  readonly #timers = new Map<TimerName, NodeJS.Timeout>();

  constructor(parts: PerformerParts) {
    this.#parts = parts;
  }

  perform(effect: Effect): void {
    const { row, stream, agent, audience, replies, publisher, hooks, inputChanged, log } = this.#parts;
    switch (effect.kind) {
      case "start":
      case "stop":
      case "interrupt":
      case "adjust":
      case "pause":
      case "rewind":
      case "give":
      case "steer":
      case "take_back":
        agent.perform(effect);
        break;
      case "publish":
        publisher.publish(stream, effect.frame, effect.isSynced === true);
        break;
      case "save":
        publisher.saveRow(stream);
        break;
      case "write":
        publisher.saveRow(stream);
        void this.#awaitWrite(effect.write_id, effect.before);
        break;
      case "settle":
        void this.#awaitWrite(effect.write_id);
        break;
      case "ask":
      case "withdraw":
      case "withdraw_all":
      case "orphan":
      case "settle_ledger":
        this.#performInLedger(effect);
        break;
      case "reply":
        replies.reply(effect.job_id, effect.reply);
        break;
      case "refuse":
        replies.refuse(effect.job_id, effect.failure);
        break;
      case "acknowledge":
        replies.acknowledge(effect.job_id, effect.was_idle);
        break;
      case "mark":
        replies.mark(effect.job_id, stream.last_seq);
        break;
      case "own":
        this.#own(effect);
        break;
      case "disown":
        audience.disown();
        break;
      case "close":
        this.#close(effect.reason);
        break;
      case "set_timer":
        this.#setTimer(effect.name, effect.ms);
        break;
      case "clear_timer":
        clearTimeout(this.#timers.get(effect.name));
        break;
      case "turn_ended":
        hooks.onTurnEnd(row, effect.result, effect.goesOn);
        break;
      case "input_failed":
        hooks.onInputFailed(row, effect.message_id, effect.error);
        break;
      case "input_changed":
        inputChanged(row.session_id, effect.input);
        break;
      case "log":
        log[effect.level](effect.event, effect.fields);
        break;
    }
  }

  #performInLedger(effect: LedgerEffect): void {
    const { ledger, agent, row, take } = this.#parts;
    const { asker } = agent;
    if (effect.kind === "settle_ledger") {
      const { job_id } = effect;
      void ledger.idle(row.session_id).then(() => take({ kind: "ledger_settled", job_id }));
    } else if (asker === undefined) return;
    else if (effect.kind === "ask") ledger.ask(asker, effect.ask);
    else if (effect.kind === "withdraw") ledger.withdrawn(asker, effect.native_id, effect.reason);
    else if (effect.kind === "withdraw_all") ledger.withdrawAll(asker);
    else if (effect.generation === asker.generation) ledger.orphanAll(asker, effect);
  }

  async #awaitWrite(write_id: string, before?: string): Promise<void> {
    const { stream, take, hooks, row } = this.#parts;
    const prepared = before === undefined ? undefined : hooks.onTurnStart(row, before);
    await stream.settled();
    if (prepared !== undefined) await prepared;
    take({ kind: "written", write_id, isStored: !stream.isRowOwed });
  }

  #own({ job_id, resume, last_seen_seq }: Effect & { kind: "own" }): void {
    const { replies, stream, audience } = this.#parts;
    replies.own(job_id, ({ client, subscriber, marked_seq }) => {
      const after_seq = last_seen_seq ?? (resume ? stream.ringStart : marked_seq);
      return audience.own({ client, subscriber }, after_seq);
    });
    stream.pressure(); // another owner, another outbox
  }

  #close(reason: string): void {
    const { stream, ledger, audience, row } = this.#parts;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    stream.close();
    if (reason === "shutdown") return; // closing connections inform their clients
    ledger.release(row.session_id);
    audience.close(reason);
  }

  #setTimer(name: TimerName, ms: number): void {
    clearTimeout(this.#timers.get(name));
    const fire = () => this.#parts.take({ kind: "timer", timer: name });
    if (ms === 0) setImmediate(fire);
    else this.#timers.set(name, setTimeout(fire, ms).unref());
  }
}
