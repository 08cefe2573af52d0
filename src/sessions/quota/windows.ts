// The latest report of each limit, by account and window. Pure.
import type { NoticeData } from "../../protocol/notices.ts";
import type { QuotaWindow } from "../../protocol/quota.ts";

export interface Account {
  readonly backend: string;
  readonly account: string;
}

/** The windows of each account. An account's list is replaced when one of them changes. */
export type Windows = ReadonlyMap<string, readonly QuotaWindow[]>;

type Limit = NonNullable<NoticeData<"rate_limits">["limit"]>;

/** Of a refused request, with the wait that the service asked for. */
const RETRY = "retry";
const REFUSED = "rejected";
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
/** A window without reports for this long is dropped. */
const STALE_MS = 8 * DAY_MINUTES * 60_000;
const MAX_WINDOWS = 16;

export function getAccountKey({ backend, account }: Account): string {
  return JSON.stringify([backend, account]);
}

/** Returns the same table if nothing has changed. */
export function noteLimits(
  windows: Windows,
  account: Account,
  { limit, secondary_limit, limits = [] }: NoticeData<"rate_limits">,
  at_ms: number,
): Windows {
  const named: [string, Limit][] = limits.map((one) => [nameWindow(one, "limit"), one]);
  const known = new Set(named.map(([name]) => name));
  // The list says more about the same window.
  if (limit !== undefined && !known.has(nameWindow(limit, "limit")))
    named.push([nameWindow(limit, "limit"), limit]);
  if (secondary_limit !== undefined)
    named.push([nameWindow(secondary_limit, "second limit"), secondary_limit]);
  let next = windows;
  for (const [window, reported] of named) next = put(next, toWindow(next, account, window, reported, at_ms));
  return next;
}

/** A request was refused until then. */
export function noteRetry(
  windows: Windows,
  { backend, account }: Account,
  resets_at_ms: number,
  at_ms: number,
): Windows {
  return put(windows, {
    ...{ backend, account, window: RETRY, resets_at_ms, reported_at_ms: at_ms },
    reached: true,
  });
}

/** The exhausted window of the account that is reset last. */
export function findBlock(
  windows: Windows,
  account: Account,
  now_ms: number,
): { resets_at_ms: number; window: string } | undefined {
  let found: { resets_at_ms: number; window: string } | undefined;
  for (const { window, reached, resets_at_ms = 0 } of windows.get(getAccountKey(account)) ?? []) {
    const isBlocking = reached === true && resets_at_ms > now_ms; // mutation: not-before-the-reset
    if (isBlocking && resets_at_ms > (found?.resets_at_ms ?? 0)) found = { resets_at_ms, window };
  }
  return found;
}

/** All windows, as a client sees them at this time: what was reset is no longer reached. */
export function listWindows(windows: Windows, now_ms: number): QuotaWindow[] {
  return [...windows.keys()].sort().flatMap((key) => listAccount(windows.get(key) ?? [], now_ms));
}

export function listAccount(all: readonly QuotaWindow[], now_ms: number): QuotaWindow[] {
  return all
    .filter((one) => isCurrent(one, now_ms))
    .map((one) => {
      if (one.resets_at_ms === undefined || one.resets_at_ms > now_ms) return one;
      const { used_percent: _used, reached: _reached, resets_at_ms: _reset, ...rest } = one;
      return rest;
    })
    .sort((a, b) => (a.window_minutes ?? 0) - (b.window_minutes ?? 0) || (a.window < b.window ? -1 : 1));
}

/** From a file, or to one. */
export function toWindows(list: readonly QuotaWindow[], now_ms: number): Windows {
  let windows: Windows = new Map();
  for (const one of list) if (isCurrent(one, now_ms)) windows = put(windows, one);
  return windows;
}

function isCurrent({ window, reported_at_ms, resets_at_ms = 0 }: QuotaWindow, now_ms: number): boolean {
  if (window === RETRY) return resets_at_ms > now_ms;
  return resets_at_ms > now_ms || now_ms - reported_at_ms < STALE_MS;
}

function put(windows: Windows, window: QuotaWindow): Windows {
  const key = getAccountKey(window);
  const all = windows.get(key) ?? [];
  const at = all.findIndex((one) => one.window === window.window);
  const old = all[at];
  if (old !== undefined && isSame(old, window)) return windows;
  const others = all.filter((one) => one !== old).slice(-(MAX_WINDOWS - 1));
  return new Map([...windows, [key, [...others, window]]]);
}

/** Apart from when it was reported: agents repeat themselves. */
function isSame(a: QuotaWindow, b: QuotaWindow): boolean {
  const { used_percent, resets_at_ms, reached } = a;
  return used_percent === b.used_percent && resets_at_ms === b.resets_at_ms && reached === b.reached;
}

function toWindow(
  windows: Windows,
  account: Account,
  window: string,
  { used_percent, resets_at_ms, window_minutes, status }: Limit,
  at_ms: number,
): QuotaWindow {
  const { backend } = account;
  const before = windows.get(getAccountKey(account))?.find((one) => one.window === window);
  // Some reports leave out how much is used.
  const isSameSpan = before !== undefined && before.resets_at_ms === resets_at_ms;
  const used = used_percent ?? (isSameSpan ? before.used_percent : undefined);
  const isReached = status === undefined ? (used ?? 0) >= 100 : status === REFUSED;
  return {
    ...{ backend, account: account.account, window, reported_at_ms: at_ms },
    ...(used === undefined ? {} : { used_percent: used }),
    ...(resets_at_ms === undefined ? {} : { resets_at_ms }),
    ...(window_minutes === undefined ? {} : { window_minutes }),
    ...(isReached ? { reached: true as const } : {}),
  };
}

function nameWindow({ window, window_minutes: minutes }: Limit, other: string): string {
  if (window !== undefined) return window;
  if (minutes === undefined || minutes === 0) return other;
  if (minutes % DAY_MINUTES === 0) return `${minutes / DAY_MINUTES}d`;
  return minutes % HOUR_MINUTES === 0 ? `${minutes / HOUR_MINUTES}h` : `${minutes}min`;
}
