// One kept session while it is open: what it is, and its messages, each written when it joins the history. Written
// without waiting for the disk: what was written is there after the death of the process, and that is what it is for.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/coded-error.ts";
import type { Message } from "../messages.ts";

export interface SessionMeta {
  cwd: string;
  agent: string;
  provider: string;
  model: string;
  title?: string;
  /** So far, where a provider tells. */
  costUsd?: number;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

export const META_FILE = "meta.json";
export const HISTORY_FILE = "history.jsonl";

export interface RecordOrder {
  directory: string;
  meta: SessionMeta;
  free(): void;
  /** Told once each time that keeping begins to fail. */
  onFault(message: string): void;
}

export class SessionRecord {
  readonly #order: RecordOrder;
  #meta: SessionMeta;
  #file: number | undefined;
  #isFaulty = false;
  /** The entry could not be written the last time. */
  #isEntryFaulty = false;

  constructor(order: RecordOrder) {
    this.#order = order;
    this.#meta = order.meta;
  }

  get meta(): Readonly<SessionMeta> {
    return this.#meta;
  }

  /** Something is missing in the file: `rewrite` mends it. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  append(message: Message): void {
    // Behind a hole nothing is added: the file stays a true beginning.
    if (this.#isFaulty) return;
    this.#guard(() => {
      this.#file ??= openSync(join(this.#order.directory, HISTORY_FILE), "a", 0o600);
      writeAll(this.#file, `${JSON.stringify(message)}\n`);
    });
  }

  /** All messages anew, at once: a reader finds the old file or the new one. */
  rewrite(messages: readonly Message[]): void {
    const wasFaulty = this.#isFaulty;
    this.#isFaulty = false;
    this.#guard(() => {
      const path = join(this.#order.directory, HISTORY_FILE);
      replace(path, (draft) => {
        for (const message of messages) writeAll(draft, `${JSON.stringify(message)}\n`);
        fsyncSync(draft);
      });
      this.#closeFile();
    }, wasFaulty);
  }

  update(change: Partial<SessionMeta>): void {
    this.#meta = { ...this.#meta, ...change, updatedAt: new Date().toISOString() };
    const path = join(this.#order.directory, META_FILE);
    const wasFaulty = this.#isEntryFaulty;
    try {
      replace(path, (draft) => writeAll(draft, `${JSON.stringify(this.#meta)}\n`));
      this.#isEntryFaulty = false;
    } catch (error) {
      this.#isEntryFaulty = true;
      if (!wasFaulty) this.#order.onFault(`the session's entry cannot be written: ${messageOf(error)}`);
    }
  }

  close(): void {
    this.#closeFile();
    this.#order.free();
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #guard(write: () => void, isKnown = false): void {
    try {
      write();
    } catch (error) {
      this.#isFaulty = true;
      const problem = `the session is not kept and could not be resumed: ${messageOf(error)}; free or mend the disk`;
      if (!isKnown) this.#order.onFault(problem);
    }
  }
}

/** A file in its place whole, or not at all. What could not be finished must not fill the disk. */
function replace(path: string, write: (file: number) => void): void {
  const draft = `${path}.new`;
  try {
    const file = openSync(draft, "w", 0o600);
    try {
      write(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
