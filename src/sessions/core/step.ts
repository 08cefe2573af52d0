// One reducer step in progress: the state and effects so far. Only exists inside `reduce`.
import type { Effect, Reply } from "./effects.ts";
import type { Input } from "./inputs.ts";
import { type CoreRow, type Failure, getTurn, type SessionState, type Turn, type Write } from "./state.ts";

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
    return getTurn(this.state);
  }

  set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  /** Keeps the same object if nothing changes. */
  setRow(change: Partial<CoreRow>): void {
    const { row } = this.state;
    const keys = Object.keys(change) as (keyof CoreRow)[];
    if (keys.some((key) => row[key] !== change[key])) this.set({ row: { ...row, ...change } });
  }

  dropFromRow(key: keyof CoreRow): void {
    const { [key]: dropped, ...row } = this.state.row;
    // Not `delete`: V8 copies objects that lost a property that way slowly.
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

  /** Requests a write of the current row and returns its id. */
  write(what: DistributiveOmit<Write, "write_id">): string {
    return this.#wait("write", what);
  }

  /** Requests a report once everything published and saved so far has been written; returns its id. */
  settle(what: DistributiveOmit<Write, "write_id">): string {
    return this.#wait("settle", what);
  }

  #wait(kind: "write" | "settle", what: DistributiveOmit<Write, "write_id">): string {
    const writeCount = this.state.writeCount + 1;
    const write_id = `w${writeCount}`;
    this.set({ writeCount, writes: [...this.state.writes, { ...what, write_id }] });
    this.emit(
      what.for === "handover" ? { kind: "write", write_id, before: what.turn_id } : { kind, write_id },
    );
    return write_id;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
