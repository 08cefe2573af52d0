// Limits of accounts as text, the same on all screens. Not sanitized; each screen does that when it draws.
import type { QuotaWaitView, QuotaWindow } from "../../protocol/quota.ts";

const DAY_MS = 86_400_000;
const BAR_CELLS = 10;

/** `waiting_quota until 17:00`. */
export function formatUntil({ until_ms, window, asks }: QuotaWaitView, now_ms: number): string {
  const which = window === undefined ? "" : ` (${window})`;
  const until = `waiting_quota until ${formatMoment(until_ms, now_ms)}${which}`;
  return asks === true ? `${until}, if a person agrees` : until;
}

/** Its name, how much is used, and when it is reset. */
export function formatWindow(window: QuotaWindow, now_ms: number): [string, string, string] {
  const { used_percent, resets_at_ms, reached } = window;
  const used = used_percent === undefined ? "" : `${Math.round(used_percent)}%`;
  const state = reached === true ? [used, "reached"].filter(Boolean).join(", ") : used || "unknown";
  return [window.window, state, resets_at_ms === undefined ? "" : formatMoment(resets_at_ms, now_ms)];
}

/** `5h 87%, 7d 40%`: for a header; the fullest first if there is little room. */
export function formatQuotaLine(windows: readonly QuotaWindow[], now_ms: number): string[] {
  return windows.flatMap(({ window, used_percent, reached, resets_at_ms }) => {
    if (reached === true && resets_at_ms !== undefined)
      return [`${window} reached until ${formatMoment(resets_at_ms, now_ms)}`];
    return used_percent === undefined ? [] : [`${window} ${Math.round(used_percent)}%`];
  });
}

export function drawPercentBar({ used_percent }: QuotaWindow): string {
  if (used_percent === undefined) return "";
  const full = Math.round((Math.min(100, Math.max(0, used_percent)) / 100) * BAR_CELLS);
  return "█".repeat(full) + "░".repeat(BAR_CELLS - full);
}

/** The time of day, in local time; on another day also that. */
export function formatMoment(at_ms: number, now_ms: number): string {
  const at = new Date(at_ms);
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  const isNear = Math.abs(at_ms - now_ms) < DAY_MS && at.getDate() === new Date(now_ms).getDate();
  return isNear ? time : `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${time}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
