// One step of the reducer while it is taken: the state so far and the effects so far. It lives only within `reduce`.
import type { Effect, Reply } from "./effects.ts";
import type { Input } from "./inputs.ts";
import { type CoreRow, type Failure, type SessionState, type Turn, turnOf, type Write } from "./state.ts";

export class Step {
  state: SessionState;
  readonly effects: Effect[] = [];
  readonly at_ms: number;
  readonly id: string;

  constructor(state: SessionState, { at_ms, id }: Pick<Input, "at_ms" | "id">) {
    this.state = state;
    this.at_ms = at_ms;
    this.id = id;
  }

  get turn(): Turn | undefined {
    return turnOf(this.state);
  }

  set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  /** The same row when nothing of it changes. */
  setRow(change: Partial<CoreRow>): void {
    const { row } = this.state;
    const keys = Object.keys(change) as (keyof CoreRow)[];
    if (keys.some((key) => row[key] !== change[key])) this.set({ row: { ...row, ...change } });
  }

  dropFromRow(key: keyof CoreRow): void {
    const { [key]: dropped, ...row } = this.state.row;
    // Not `delete`: an object that lost a field that way is slow to copy ever after.
    if (dropped !== undefined) this.set({ row: row as CoreRow });
  }

  emit(...effects: Effect[]): void {
    this.effects.push(...effects);
  }

  publish(frame: object): void {
    this.emit({ kind: "publish", frame });
  }

  save(): void {
    this.emit({ kind: "save" });
  }

  reply(job_id: string, reply?: Reply): void {
    this.emit({ kind: "reply", job_id, reply });
  }

  refuse(job_id: string, { code, message, data }: Failure): void {
    this.emit({
      kind: "refuse",
      job_id,
      failure: data === undefined ? { code, message } : { code, message, data },
    });
  }

  /** Asks for a write of the row as it is now and gives its name. */
  write(what: DistributiveOmit<Write, "write_id">): string {
    return this.#wait("write", what);
  }

  /** Asks to be told when what was published and saved so far is settled. */
  settle(what: DistributiveOmit<Write, "write_id">): string {
    return this.#wait("settle", what);
  }

  #wait(kind: "write" | "settle", what: DistributiveOmit<Write, "write_id">): string {
    const writeCount = this.state.writeCount + 1;
    const write_id = `w${writeCount}`;
    this.set({ writeCount, writes: [...this.state.writes, { ...what, write_id }] });
    this.emit({ kind, write_id });
    return write_id;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
