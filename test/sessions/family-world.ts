// Minimal sessions for a family: rows in memory, a disk that keeps what was written, and daemons that can die between
// any two steps.
import { CodedError } from "../../src/base/coded-error.ts";
import { silentLog } from "../../src/base/log.ts";
import type { QueuedMessage } from "../../src/protocol/queue.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import { Family, type FamilyOptions, type FamilyParts } from "../../src/sessions/family/family.ts";
import type { Running } from "../../src/sessions/family/stalls.ts";
import { parseWakeId } from "../../src/sessions/family/wakes.ts";
import { rowOf } from "./fakes.ts";

export type Fault = "none" | "before" | "after";

/** What outlives a daemon. */
export class Disk {
  readonly rows = new Map<string, string>();
  /** Turns it has ever been notified of. */
  readonly turns = new Set<string>();

  write(session_id: string, text: string): void {
    const row = JSON.parse(text) as SessionRow;
    for (const turn of [row.turn, row.last_result]) if (turn !== undefined) this.turns.add(turn.turn_id);
    for (const { wake_id } of row.wakes ?? []) this.turns.add(parseWakeId(session_id, wake_id) ?? "");
    this.rows.set(session_id, text);
  }

  /** The messages given to a session's agent. */
  told(session_id: string): string[] {
    return (this.read().get(session_id)?.inputs ?? []).map(({ message_id }) => message_id);
  }

  read(): Map<string, SessionRow> {
    return new Map([...this.rows].map(([id, text]) => [id, JSON.parse(text) as SessionRow]));
  }
}

const OPTIONS: FamilyOptions = {
  limits: { maxChildren: 32, maxDepth: 6, maxSize: 256 },
  stallMs: 600_000,
  retryMs: 1,
};

const MORE = {
  message_id: "more",
  kind: "user" as const,
  message: { role: "user" as const, content: "go on" },
};

/** One run of a daemon. */
export class Life {
  readonly disk: Disk;
  readonly rows: Map<string, SessionRow>;
  readonly family: Family;
  readonly pending = new Set<string>();
  readonly stalls: string[] = [];
  running: Running[] = [];
  nowMs = 1_000;
  isDead = false;
  /** Steps left before it dies. */
  steps = Number.POSITIVE_INFINITY;
  /** What the disk does with each next write: takes it, refuses it, or takes it and reports failure. */
  faults: Fault[] = [];
  enqueued = 0;
  readonly #writes = new Map<string, Promise<void>>();

  constructor(disk: Disk, options: Partial<FamilyOptions> = {}, over: Partial<FamilyParts> = {}) {
    this.disk = disk;
    this.rows = disk.read();
    this.family = new Family({ ...this.#parts(), ...over }, { ...OPTIONS, ...options });
  }

  /** A session that is known and stored. */
  add(session_id: string, fields: Partial<SessionRow> = {}): SessionRow {
    const row = rowOf(session_id, fields);
    this.rows.set(session_id, row);
    this.disk.write(session_id, JSON.stringify(row));
    return row;
  }

  get(session_id: string): SessionRow {
    const row = this.rows.get(session_id);
    if (row === undefined) throw new Error(`no session ${session_id}`);
    return row;
  }

  begin(session_id: string, turn_id: string): Promise<void> {
    const row = this.get(session_id);
    row.turn = { turn_id, started_at_ms: this.nowMs };
    delete row.queue;
    return this.save(session_id);
  }

  /** As in the core: the hook first, then row and result in one write. */
  end(
    session_id: string,
    subtype: "success" | "error" | "interrupted" = "success",
    { goesOn = false, hasMore = false, text = "All done." } = {},
  ): Promise<void> {
    const row = this.get(session_id);
    const turn_id = row.turn?.turn_id ?? "none";
    delete row.turn;
    row.last_result = { turn_id, subtype, ended_at_ms: this.nowMs, text };
    if (hasMore) row.queue = [{ ...MORE, queued_at_ms: this.nowMs }];
    const result = { type: "agent.result" as const, backend: "fake", subtype, turn_id };
    this.family.onTurnEnd(row, result, goesOn || hasMore);
    return this.save(session_id);
  }

  ask(session_id: string, request_id: string): void {
    this.pending.add(request_id);
    this.family.onRequest(this.get(session_id), requestOf(session_id, request_id));
  }

  settle(session_id: string, request_id: string): void {
    this.pending.delete(request_id);
    this.family.onSettled({ session_id, request_id });
  }

  /** The session's agent is given the next queued message, in the write that removes it from the queue. */
  async consume(session_id: string): Promise<void> {
    const row = this.get(session_id);
    const [next, ...rest] = row.queue ?? [];
    if (next === undefined) return;
    const { message_id, kind, queued_at_ms } = next;
    row.queue = rest;
    row.inputs = [...(row.inputs ?? []), { message_id, kind, queued_at_ms, state: "delivered" }];
    // It is given only messages that left the queue on disk.
    let isStored = false;
    while (!isStored) {
      isStored = await this.save(session_id).then(
        () => true,
        () => false,
      );
    }
  }

  /** Writes the row in its current state. */
  save(session_id: string): Promise<void> {
    const before = this.#writes.get(session_id) ?? Promise.resolve();
    const text = JSON.stringify(this.get(session_id));
    const write = before.catch(() => undefined).then(() => this.#write(session_id, text));
    this.#writes.set(session_id, write);
    write.catch(() => undefined);
    return write;
  }

  async #write(session_id: string, text: string): Promise<void> {
    await this.#step();
    const fault = this.faults.shift() ?? "none";
    if (fault === "before") throw new CodedError("store_failed", "disk full");
    // It may have died at the very end of the step.
    if (this.isDead) await new Promise<never>(() => undefined);
    this.disk.write(session_id, text);
    await this.#step();
    if (fault === "after") throw new CodedError("store_failed", "the disk did not say");
  }

  /** A dead daemon does nothing. */
  async #step(): Promise<void> {
    await Promise.resolve();
    this.steps -= 1;
    if (this.steps < 0) this.isDead = true;
    if (this.isDead) await new Promise<never>(() => undefined);
  }

  #parts(): FamilyParts {
    return {
      row: (id) => this.rows.get(id),
      find: async (id) => this.rows.get(id),
      family: async () => () => this.rows,
      isLoaded: () => true,
      running: () => this.running,
      stored: async (id) => {
        await this.#step();
        await this.#writes.get(id);
      },
      update: async (id, change) => {
        await this.#step();
        const row = this.rows.get(id);
        if (row === undefined) throw new CodedError("session_unknown", id);
        change(row);
        await this.save(id);
      },
      enqueue: (id, message) => this.#enqueue(id, message),
      cancelQueued: async (id, message_id) => {
        await this.#step();
        const row = this.rows.get(id);
        if (row === undefined) throw new CodedError("session_unknown", id);
        const left = (row.queue ?? []).filter((message) => message.message_id !== message_id);
        if (left.length === (row.queue ?? []).length) return false;
        row.queue = left;
        await this.save(id);
        return true;
      },
      isPending: (_id, request_id) => this.pending.has(request_id),
      stalled: (row) => this.stalls.push(row.session_id),
      now: () => this.nowMs,
      log: silentLog,
    };
  }

  async #enqueue(session_id: string, message: QueuedMessage): Promise<void> {
    await this.#step();
    const row = this.rows.get(session_id);
    if (row === undefined) throw new CodedError("session_unknown", session_id);
    const { message_id } = message;
    const isKnown = [...(row.queue ?? []), ...(row.inputs ?? [])].some(
      (one) => one.message_id === message_id,
    );
    if (isKnown) return this.save(session_id);
    this.enqueued += 1;
    row.queue = [...(row.queue ?? []), message];
    try {
      await this.save(session_id);
    } catch (error) {
      row.queue = (row.queue ?? []).filter((one) => one !== message);
      throw error;
    }
  }
}

export function requestOf(
  session_id: string,
  request_id: string,
  fields: Partial<RequestRow> = {},
): RequestRow {
  return {
    request_id,
    session_id,
    backend: "fake",
    request_type: "command",
    status: "pending",
    payload: { title: "Bash: make all", command: "make all", choices: [{ decision: "accept" }] },
    shown_hash: "00",
    requested_at_ms: 1,
    generation: "g",
    ...fields,
  };
}

export function queueOf(life: Life, session_id: string): string[] {
  return (life.get(session_id).queue ?? []).map(({ message_id }) => message_id);
}
