// Ranges of days in local time, as the daemon takes them: `2026-01-31`.

export interface DayRange {
  from: string;
  /** The last day. */
  to: string;
}

export const DAY_RANGES = [
  { days: 1, label: "Today" },
  { days: 7, label: "7 days" },
  { days: 30, label: "30 days" },
  { days: 90, label: "90 days" },
  { days: 365, label: "Year" },
] as const;

/** That many days up to today. */
export function findRange(days: number, nowMs: number): DayRange {
  const first = new Date(nowMs);
  first.setDate(first.getDate() - days + 1);
  return { from: toDay(first), to: toDay(new Date(nowMs)) };
}

/** Empty if the range is valid. */
export function checkRange({ from, to }: DayRange): string {
  return from <= to ? "" : `the first day (${from}) is after the last (${to})`;
}

/** The start of each day from `fromMs` on, before `toMs`. Days do not always have 24 hours. */
export function listDays(fromMs: number, toMs: number): number[] {
  const starts: number[] = [];
  for (const day = new Date(fromMs); day.getTime() < toMs; day.setDate(day.getDate() + 1))
    starts.push(day.getTime());
  return starts;
}

/** "16 Mar" */
export function nameDay(atMs: number): string {
  return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }).format(atMs);
}

function toDay(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
