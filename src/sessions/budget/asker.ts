// Asks a person about the budgets of one family that are used up, in the name of the daemon: one request for each session
// whose budget it is. A request that is no longer true is withdrawn; one that the daemon's end cuts is asked again.
import { toMessage } from "../../base/coded-error.ts";
import { makeId } from "../../base/id.ts";
import type { Log } from "../../base/log.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Asker } from "../requests/types.ts";
import type { Session } from "../session.ts";
import type { BudgetAccount } from "./accounts.ts";
import type { Raise } from "./changes.ts";
import { type Blocked, BUDGET_GENERATION, type BudgetAsk, readBudgetAnswer, toBudgetAsk } from "./request.ts";

export interface BudgetAskerParts {
  ledger: Ledger;
  log: Log;
  revive(session_id: string): Promise<Session>;
  raise(raise: Raise): Promise<void>;
  stopTree(session_id: string): Promise<unknown>;
  /** As they are now. */
  accounts(): readonly BudgetAccount[];
  /** A request was answered, or could not be asked. */
  settled(): void;
}

interface Asked {
  readonly native_id: string;
  readonly limits: string;
  signature: string;
  /** Set when it is in the ledger. */
  asker?: Asker;
  isAnswered: boolean;
}

export class BudgetAsker {
  readonly #parts: BudgetAskerParts;
  /** By holder. */
  readonly #asked = new Map<string, Asked>();
  /** What a person left as it is, by holder. */
  readonly #left = new Map<string, string>();

  constructor(parts: BudgetAskerParts) {
    this.#parts = parts;
  }

  isAsking(session_id: string): boolean {
    return this.#asked.has(session_id);
  }

  /** Its requests are gone with it. */
  forget(session_id: string): void {
    this.#asked.delete(session_id);
  }

  review(blocked: ReadonlyMap<string, Blocked>): void {
    for (const [holder, asked] of this.#asked) {
      const now = blocked.get(holder);
      if (now !== undefined) asked.signature = now.signature;
      if (now?.limits !== asked.limits && !asked.isAnswered) this.#withdraw(holder, asked);
    }
    for (const holder of this.#left.keys()) if (!blocked.has(holder)) this.#left.delete(holder);
    for (const [holder, now] of blocked)
      if (!this.#asked.has(holder) && this.#left.get(holder) !== now.signature) this.#ask(holder, now);
  }

  #withdraw(holder: string, { asker, native_id }: Asked): void {
    this.#asked.delete(holder);
    if (asker !== undefined) this.#parts.ledger.withdrawn(asker, native_id, "the budget has changed");
  }

  #ask(holder: string, { accounts, limits, signature }: Blocked): void {
    const native_id = makeId("budget");
    const asked: Asked = { native_id, limits, signature, isAnswered: false };
    this.#asked.set(holder, asked);
    const made = toBudgetAsk(native_id, accounts);
    void this.#show(holder, asked, made).catch((error: unknown) => {
      this.#parts.log.error("budget.not_asked", { session_id: holder, message: toMessage(error) });
    });
  }

  async #show(holder: string, asked: Asked, { ask, targets }: BudgetAsk): Promise<void> {
    const session = await this.#parts.revive(holder);
    if (this.#asked.get(holder) !== asked) return; // no longer true
    asked.asker = {
      stream: session.stream,
      generation: BUDGET_GENERATION,
      answer: (_id, answer) => this.#answer(holder, asked, answer, targets),
      changed: () => undefined,
    };
    this.#parts.ledger.ask(asked.asker, ask);
  }

  /** Always true: the answer is taken. If it cannot be carried out, the request is made again. */
  async #answer(
    holder: string,
    asked: Asked,
    answer: Answer,
    targets: BudgetAsk["targets"],
  ): Promise<boolean> {
    const { log, raise, stopTree, settled, accounts } = this.#parts;
    asked.isAnswered = true;
    const own = accounts().filter((account) => account.holder.session_id === holder);
    const verdict = readBudgetAnswer(answer, targets, own);
    try {
      if (verdict.kind === "leave") this.#left.set(holder, asked.signature);
      if (verdict.kind === "stop") await stopTree(holder);
      if (verdict.kind === "raise") for (const one of verdict.raises) await raise(one);
    } catch (error) {
      log.error("budget.answer_failed", { session_id: holder, message: toMessage(error) });
    }
    if (this.#asked.get(holder) === asked) this.#asked.delete(holder);
    settled();
    return true;
  }
}
