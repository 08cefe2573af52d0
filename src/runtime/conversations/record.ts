// Stores an open session: its metadata, and each message as it is added to the history. Writes are not synced: they have to
// survive a crash of the process, not of the machine.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { Message } from "../messages.ts";

export interface SessionMeta {
  cwd: string;
  agent: string;
  provider: string;
  model: string;
  /** The start of the first message. */
  title?: string;
  /** Given by the user. */
  name?: string;
  /** The conversation is, or was last, in a terminal. */
  source?: "terminal";
  agentMode?: DemianConfig["agentMode"];
  /** Messages of the user that were answered, or ended otherwise. */
  turns?: number;
  /** Total so far, if the provider reports it. */
  costUsd?: number;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

export const META_FILE = "meta.json";
export const HISTORY_FILE = "history.jsonl";

export interface RecordOptions {
  directory: string;
  meta: SessionMeta;
  free(): void;
  /** Called once whenever writing starts to fail. */
  onFault(message: string): void;
}

export class SessionRecord {
  readonly #options: RecordOptions;
  #meta: SessionMeta;
  #file: number | undefined;
  #isFaulty = false;
  /** The last write of the metadata failed. */
  #isEntryFaulty = false;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#meta = options.meta;
  }

  get meta(): Readonly<SessionMeta> {
    return this.#meta;
  }

  /** The file is incomplete; `rewrite` repairs it. */
  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  append(message: Message): void {
    // After a gap nothing is appended, so that the file stays a valid prefix.
    if (this.#isFaulty) return;
    this.#guard(() => {
      this.#file ??= openSync(join(this.#options.directory, HISTORY_FILE), "a", 0o600);
      writeAll(this.#file, `${JSON.stringify(message)}\n`);
    });
  }

  /** Replaces the history atomically. */
  rewrite(messages: readonly Message[]): void {
    const wasFaulty = this.#isFaulty;
    this.#isFaulty = false;
    this.#guard(() => {
      const path = join(this.#options.directory, HISTORY_FILE);
      replace(path, (draft) => {
        for (const message of messages) writeAll(draft, `${JSON.stringify(message)}\n`);
        fsyncSync(draft);
      });
      this.#closeFile();
    }, wasFaulty);
  }

  update(change: Partial<SessionMeta>): void {
    this.#meta = { ...this.#meta, ...change, updatedAt: new Date().toISOString() };
    const path = join(this.#options.directory, META_FILE);
    const wasFaulty = this.#isEntryFaulty;
    try {
      replace(path, (draft) => writeAll(draft, `${JSON.stringify(this.#meta)}\n`));
      this.#isEntryFaulty = false;
    } catch (error) {
      this.#isEntryFaulty = true;
      if (!wasFaulty) this.#options.onFault(`cannot write the session's metadata: ${toMessage(error)}`);
    }
  }

  close(): void {
    this.#closeFile();
    this.#options.free();
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
      const problem = `the session is not stored and cannot be resumed: ${toMessage(error)}; check the disk`;
      if (!isKnown) this.#options.onFault(problem);
    }
  }
}

/** Atomic. An unfinished draft is removed. */
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
