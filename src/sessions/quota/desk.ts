// The limits of all accounts, and the sessions that wait for one. Keeps what agents report (windows.ts), lets sessions
// continue in turn (line.ts), and asks a person where the session's setting says so. What a session does is its core's
// decision.

import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { NoticeData } from "../../protocol/notices.ts";
import type { OnLimit, QuotaReply, QuotaWindow } from "../../protocol/quota.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { QuotaFacts, QuotaOrder } from "../core/quota.ts";
import { isAsking } from "../core/state.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Session } from "../session.ts";
import type { SessionTable } from "../table.ts";
import { QuotaAsks } from "./asks.ts";
import { compareWaiters, planLine, type Waiter } from "./line.ts";
import { readWindows, writeWindows } from "./stored.ts";
import {
  type Account,
  findBlock,
  getAccountKey,
  listAccount,
  listWindows,
  noteLimits,
  noteRetry,
  type Windows,
} from "./windows.ts";

export interface QuotaSettings {
  /** Of managed sessions without a setting of their own. */
  onLimit: OnLimit;
  /** The longest wait; 0: no session waits. */
  maxWaitMs: number;
  /** The file that keeps the windows; absent: they are forgotten with the daemon. */
  path?: string | undefined;
}

export interface DeskParts extends QuotaSettings {
  table: SessionTable;
  ledger: Ledger;
  log: Log;
  changed(session_id: string): void;
}

/** For sessions. */
export interface QuotaPort {
  /** A turn is about to end because of a limit. */
  describe(row: SessionRow, result: ResultEvent): QuotaFacts;
  /** The agent has reported the limits of its account. */
  note(row: SessionRow, data: NoticeData<"rate_limits">): void;
}

/** After the agent could not be started to read the quota. */
const RETRY_MS = 30_000;
/** The maximum of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class QuotaDesk implements QuotaPort {
  readonly #parts: DeskParts;
  readonly #asks: QuotaAsks;
  #windows: Windows = new Map();
  /** Sessions that wait, or whose turn comes after a wait. */
  readonly #followed = new Set<string>();
  /** The windows of sessions that were let go, until their turn ends. */
  readonly #trying = new Map<string, string>();
  readonly #proven = new Set<string>();
  /** Their quota is being read. */
  readonly #reading = new Set<string>();
  readonly #notBefore = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isClosed = false;
  #isSaving = false;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#asks = new QuotaAsks(parts.ledger, (session_id, order) => this.#tell(session_id, order));
  }

  /** Once sessions may be loaded. */
  async start(): Promise<void> {
    const { path, log, table } = this.#parts;
    if (path !== undefined) {
      const stored = await readWindows(path, log);
      // What was reported meanwhile is newer.
      this.#windows = new Map([...stored, ...this.#windows]);
    }
    for (const session_id of table.live.keys()) this.onChange(session_id);
  }

  describe(row: SessionRow, { error }: ResultEvent): QuotaFacts {
    const now = Date.now();
    const account = this.#findAccount(row);
    if (error?.retry_after_ms !== undefined)
      this.#replace(account, noteRetry(this.#windows, account, now + error.retry_after_ms, now));
    const { onLimit, maxWaitMs } = this.#parts;
    const setting = row.on_limit ?? (row.managed === true ? onLimit : "fail");
    // Of another window: this one was exhausted again.
    const block = findBlock(this.#windows, account, now);
    this.#proven.delete(toKey(account, block?.window));
    return {
      on_limit: maxWaitMs === 0 ? "fail" : setting,
      max_wait_ms: maxWaitMs,
      ...defined({ resets_at_ms: block?.resets_at_ms, window: block?.window }),
    };
  }

  note(row: SessionRow, data: NoticeData<"rate_limits">): void {
    const account = this.#findAccount(row);
    this.#replace(account, noteLimits(this.#windows, account, data, Date.now()));
  }

  /** The limits of the session's account. */
  list(row: SessionRow): QuotaWindow[] {
    const all = this.#windows.get(getAccountKey(this.#findAccount(row)));
    return all === undefined ? [] : listAccount(all, Date.now());
  }

  /** `isFresh`: ask the agents that run, one for each account, first. */
  async report(isFresh: boolean): Promise<QuotaReply> {
    if (isFresh) await this.#readAll();
    const waiting = this.#listWaiters().sort(compareWaiters);
    return {
      windows: listWindows(this.#windows, Date.now()),
      waiting: waiting.flatMap(({ session_id, wait }) => {
        const row = this.#parts.table.row(session_id);
        if (row === undefined) return [];
        const { since_ms, until_ms, window, asks } = wait;
        const { name, title } = row;
        const known = defined({ name, title, window, asks });
        return [{ session_id, since_ms, until_ms, ...known, ...this.#findAccount(row) }];
      }),
    };
  }

  /** A person's order. Throws `quota_not_waiting`, `session_unknown`, `store_failed`. */
  async order(session_id: string, order: QuotaOrder & { do: "resume" | "cancel" }): Promise<void> {
    await this.#parts.table.use(session_id, (session) => session.orderQuota(order));
  }

  onChange(session_id: string): void {
    const row = this.#parts.table.row(session_id);
    const isMeant = row?.quota_wait !== undefined || row?.turn?.after_limit !== undefined;
    if (isMeant) this.#followed.add(session_id);
    if (this.#followed.has(session_id)) this.#schedule();
  }

  onTurnEnd({ session_id }: SessionRow, { subtype }: ResultEvent): void {
    const key = this.#trying.get(session_id);
    if (key === undefined) return;
    this.#trying.delete(session_id);
    if (subtype === "success") this.#proven.add(key);
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#saving;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    // After everything that this change leads to.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#followTurns();
    const waiters = this.#listWaiters();
    this.#asks.update(waiters.flatMap((waiter) => this.#findAsking(waiter)));
    const now_ms = Date.now();
    const { maxWaitMs: max_wait_ms } = this.#parts;
    const trying = new Set(this.#trying.values());
    const plan = planLine({ waiters, trying, proven: this.#proven, max_wait_ms, now_ms });
    for (const { session_id } of plan.give_up) this.#tell(session_id, { do: "give_up" });
    for (const waiter of plan.first) void this.#letGo(waiter);
    for (const { session_id } of plan.follow) this.#continue(session_id);
    if (plan.next_at_ms === undefined) return;
    const ms = Math.min(Math.max(1, plan.next_at_ms - now_ms), MAX_TIMER_MS);
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  /** Which windows are being tried, from what sessions do now. */
  #followTurns(): void {
    const { table } = this.#parts;
    for (const session_id of this.#followed) {
      const session = table.live.get(session_id);
      const after = session?.row.turn?.after_limit;
      if (session !== undefined && after !== undefined) {
        const key = toKey(this.#findAccount(session.row), after.window);
        this.#trying.set(session_id, key);
        // It has an answer, and waits for a person now.
        if (isAsking(session.state)) this.#proven.add(key);
      } else if (session?.row.quota_wait === undefined) {
        this.#trying.delete(session_id);
        this.#followed.delete(session_id);
      } else if (!this.#reading.has(session_id) && !isOnItsWay(session)) this.#trying.delete(session_id); // mutation: only-who-goes-is-waited-for
    }
  }

  #listWaiters(): Waiter[] {
    const waiters: Waiter[] = [];
    for (const session_id of this.#followed) {
      const session = this.#parts.table.live.get(session_id);
      const wait = session?.quotaWait;
      if (session === undefined || wait === undefined || this.#reading.has(session_id)) continue;
      const key = toKey(this.#findAccount(session.row), wait.window);
      const more = defined({ not_before_ms: this.#notBefore.get(session_id) });
      waiters.push({
        session_id,
        key,
        wait,
        ...more,
        ...(session.held === undefined ? {} : { isHeld: true }),
      });
    }
    return waiters;
  }

  #findAsking({ session_id, wait }: Waiter): Session[] {
    const session = wait.asks === true ? this.#parts.table.live.get(session_id) : undefined;
    return session === undefined ? [] : [session];
  }

  /** The first of its window: its quota is read before it gets its message. */
  async #letGo({ session_id, key }: Waiter): Promise<void> {
    const { log } = this.#parts;
    this.#reading.add(session_id);
    this.#trying.set(session_id, key);
    try {
      if (await this.#read(session_id)) this.#continue(session_id);
      else this.#notBefore.set(session_id, Date.now() + RETRY_MS);
    } catch (error) {
      log.warn("quota.read_failed", { session_id, message: toMessage(error) });
      this.#notBefore.set(session_id, Date.now() + RETRY_MS);
    } finally {
      this.#reading.delete(session_id);
      this.#schedule();
    }
  }

  /** Never sends the agent a message. False: its agent did not start, so nothing could be read. */
  async #read(session_id: string): Promise<boolean> {
    const session = this.#parts.table.live.get(session_id);
    if (session?.backend.readsQuota !== true) return true;
    // Nobody keeps the agent of an unmanaged session running: it starts with the message.
    return (await session.readQuota()) || session.row.managed !== true;
  }

  #continue(session_id: string): void {
    const row = this.#parts.table.row(session_id);
    if (row === undefined) return;
    const block = findBlock(this.#windows, this.#findAccount(row), Date.now());
    if (block === undefined) {
      this.#notBefore.delete(session_id);
      this.#tell(session_id, { do: "resume" });
    } else {
      const { resets_at_ms: until_ms, window } = block;
      this.#tell(session_id, { do: "postpone", until_ms, window });
    }
  }

  #tell(session_id: string, order: QuotaOrder): void {
    this.#parts.log.info("quota.ordered", { session_id, order: order.do });
    const ordered = this.#parts.table.live.get(session_id)?.orderQuota(order);
    // Not stored, or no longer waiting: what comes next shows it.
    ordered?.catch((error: unknown) =>
      this.#parts.log.warn("quota.order_failed", { session_id, message: toMessage(error) }),
    );
  }

  async #readAll(): Promise<void> {
    const one = new Map<string, Session>();
    for (const session of this.#parts.table.live.values()) {
      const isAble = session.isRunning && session.backend.readsQuota === true;
      if (isAble) one.set(getAccountKey(this.#findAccount(session.row)), session);
    }
    await Promise.all([...one.values()].map((session) => session.readQuota()));
  }

  #findAccount({ backend: name, options, model }: SessionRow): Account {
    const backend = this.#parts.table.findBackend(name);
    return { backend: name, account: backend?.account?.(options, model) ?? "default" };
  }

  #replace(account: Account, next: Windows): void {
    if (next === this.#windows) return;
    this.#windows = next;
    const { table, changed } = this.#parts;
    const key = getAccountKey(account);
    for (const { row } of table.live.values())
      if (row.backend === account.backend && getAccountKey(this.#findAccount(row)) === key)
        changed(row.session_id);
    this.#save();
  }

  /** All changes of a moment in one write. */
  #save(): void {
    const { path, log } = this.#parts;
    if (path === undefined || this.#isSaving || this.#isClosed) return;
    this.#isSaving = true;
    this.#saving = this.#saving.then(async () => {
      this.#isSaving = false;
      await writeWindows(path, this.#windows, log);
    });
  }
}

/** It was let go, and its turn is next. Not if it was stopped, its budget is used up or its agent does not start. */
function isOnItsWay({ quotaWait, row, held }: Session): boolean {
  return quotaWait === undefined && row.stopped_at_ms === undefined && held === undefined;
}

function toKey(account: Account, window = ""): string {
  return `${getAccountKey(account)} ${window}`;
}
