// Turns that we abandoned and Codex still runs. Their output is ignored.
import { CodexTurn } from "./turn.ts";

export class DeadTurns {
  readonly #named = new Map<string, CodexTurn>();
  /** The same, before their ids are known. */
  readonly #unnamed = new Set<CodexTurn>();

  constructor(ids: readonly string[] = []) {
    for (const id of ids) this.addId(id);
  }

  get ids(): string[] {
    return [...this.#named.keys()];
  }

  get hasUnnamed(): boolean {
    return this.#unnamed.size > 0;
  }

  has(turnId: string): boolean {
    return this.#named.has(turnId);
  }

  find(turnId: string): CodexTurn | undefined {
    return this.#named.get(turnId);
  }

  add(turn: CodexTurn): void {
    this.#unnamed.add(turn);
    if (turn.id !== undefined) this.name(turn, turn.id);
  }

  addId(turnId: string): void {
    if (!this.#named.has(turnId)) this.#named.set(turnId, new CodexTurn(turnId));
  }

  /** The id of any turn has become known. */
  name(turn: CodexTurn, id: string): void {
    turn.id ??= id;
    if (this.#unnamed.delete(turn)) this.#named.set(id, new CodexTurn(id));
  }

  /** The first turn that starts after one without an id is that one. */
  nameOldest(turnId: string): void {
    const [oldest] = this.#unnamed;
    if (oldest !== undefined) this.name(oldest, turnId);
  }

  bury(turnId: string): void {
    this.#named.get(turnId)?.end();
    this.#named.delete(turnId);
  }
}
