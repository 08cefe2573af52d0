// Reads the changes of a session on demand: the list of files page by page, the lines of a file when it is opened. Replies
// that arrive late, after another turn was chosen, are ignored.
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type {
  ChangedFile,
  ChangesReply,
  FileChangesReply,
  UndoBody,
  UndoReply,
} from "../../protocol/changes.ts";
import { wait } from "../backoff.ts";
import { type ChangesScope, toFileKey } from "./change-list.ts";

export interface ScopeQuery {
  turn?: number;
  from?: "base";
}

export interface ChangesPort {
  list(query: ScopeQuery & { limit: number; after?: string }): Promise<ChangesReply>;
  file(query: ScopeQuery & { path: string; path_b64?: string }): Promise<FileChangesReply>;
  undo(order: UndoBody): Promise<UndoReply>;
}

export interface ChangesState {
  /** Only the changes of this turn, or those since the base; absent: of the session. */
  turn?: ChangesScope;
  /** The last reply, without its files. */
  reply?: ChangesReply;
  /** Of all pages read so far. */
  files: readonly ChangedFile[];
  isLoading: boolean;
  problem?: string;
  /** By file key. */
  opened: ReadonlyMap<string, OpenedFile>;
}

export interface OpenedFile {
  isLoading: boolean;
  reply?: FileChangesReply;
  problem?: string;
}

const PAGE = 100;
/** The checkpoint at the end of a turn may take a moment. */
const SETTLE_MS = 500;
const SETTLE_TRIES = 8;

export class ChangesSource {
  readonly #port: ChangesPort;
  readonly #onChange: () => void;
  readonly #closed = new AbortController();
  #state: ChangesState = { files: [], isLoading: false, opened: new Map() };
  /** Of the last read of the list; an older one has no effect. */
  #reads = 0;

  constructor(port: ChangesPort, onChange: () => void) {
    this.#port = port;
    this.#onChange = onChange;
  }

  get state(): ChangesState {
    return this.#state;
  }

  /** Reads the list again, and every opened file that differs. */
  async refresh(): Promise<void> {
    const { turn, files: before } = this.#state;
    const reply = await this.#readList({ limit: PAGE, ...toQuery(turn) });
    if (reply === undefined) return;
    const known = new Map(before.map((file) => [toFileKey(file), JSON.stringify(file)]));
    const { opened } = this.#state;
    const kept = new Map(
      reply.files.flatMap((file) => {
        const key = toFileKey(file);
        const open = opened.get(key);
        return open === undefined ? [] : [[key, open] as const];
      }),
    );
    this.#set({ reply: { ...reply, files: [] }, files: reply.files, isLoading: false, opened: kept });
    const stale = reply.files.filter(
      (file) => kept.has(toFileKey(file)) && known.get(toFileKey(file)) !== JSON.stringify(file),
    );
    await Promise.all(stale.map((file) => this.#readFile(file)));
  }

  /** The same after a turn has ended: waits until its checkpoint is part of the list. */
  async refreshAfterTurn(): Promise<void> {
    for (let tries = 0; tries < SETTLE_TRIES; tries += 1) {
      await this.refresh();
      const last = this.#state.reply?.turns.at(-1);
      if (last === undefined || last.ended_at_ms !== undefined || last.skipped !== undefined) return;
      try {
        await wait(SETTLE_MS, this.#closed.signal);
      } catch {
        // Closed.
        return;
      }
    }
  }

  /** The next page of files. */
  async readMore(): Promise<void> {
    const { turn, reply, isLoading } = this.#state;
    if (reply?.next === undefined || isLoading) return;
    const more = await this.#readList({ limit: PAGE, after: reply.next, ...toQuery(turn) });
    if (more === undefined) return;
    const files = [...this.#state.files, ...more.files];
    this.#set({ reply: { ...more, files: [] }, files, isLoading: false });
  }

  /** Undefined shows the changes of the whole session. */
  async selectTurn(turn: ChangesScope | undefined): Promise<void> {
    if (turn === this.#state.turn) return;
    const { turn: _, ...rest } = this.#state;
    this.#set({ ...rest, ...defined({ turn }), files: [], opened: new Map() }, true);
    await this.refresh();
  }

  async openFile(file: ChangedFile): Promise<void> {
    if (this.#state.opened.has(toFileKey(file))) return;
    await this.#readFile(file);
  }

  closeFile(file: ChangedFile): void {
    const opened = new Map(this.#state.opened);
    if (opened.delete(toFileKey(file))) this.#set({ opened });
  }

  close(): void {
    this.#closed.abort();
  }

  async #readList(query: Parameters<ChangesPort["list"]>[0]): Promise<ChangesReply | undefined> {
    this.#reads += 1;
    const read = this.#reads;
    const { problem: _, ...rest } = this.#state;
    this.#set({ ...rest, isLoading: true }, true);
    try {
      const reply = await this.#port.list(query);
      return read === this.#reads ? reply : undefined;
    } catch (error) {
      if (read === this.#reads) this.#set({ isLoading: false, problem: toMessage(error) });
      return undefined;
    }
  }

  async #readFile(file: ChangedFile): Promise<void> {
    const { turn, opened } = this.#state;
    const key = toFileKey(file);
    const { path, path_b64 } = file;
    // The lines shown so far stay until the new ones arrive.
    const reading: OpenedFile = { ...opened.get(key), isLoading: true };
    this.#setFile(key, reading);
    const isCurrent = (): boolean => this.#state.opened.get(key) === reading;
    try {
      const reply = await this.#port.file({ path, ...toQuery(turn), ...defined({ path_b64 }) });
      if (isCurrent()) this.#setFile(key, { isLoading: false, reply });
    } catch (error) {
      if (isCurrent()) this.#setFile(key, { isLoading: false, problem: toMessage(error) });
    }
  }

  #setFile(key: string, file: OpenedFile): void {
    this.#set({ opened: new Map(this.#state.opened).set(key, file) });
  }

  #set(change: Partial<ChangesState>, isWhole = false): void {
    if (this.#closed.signal.aborted) return;
    this.#state = isWhole ? (change as ChangesState) : { ...this.#state, ...change };
    this.#onChange();
  }
}

function toQuery(turn: ChangesScope | undefined): ScopeQuery {
  return turn === "base" ? { from: "base" } : defined({ turn });
}
