// Calendar days in a time zone, also across changes of the clock.

const HALF_DAY_MINUTES = 16 * 60;
const MINUTE_MS = 60_000;

/** `2026-01-31` */
export type DayName = string;
export const DAY_NAME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** "Europe/Berlin", "UTC" */
export function isTimeZone(name: string): boolean {
  try {
    createNamer(name);
    return true;
  } catch {
    return false;
  }
}

/** A function that names the day of a time. Made once for many times. */
export function createNamer(timeZone: string): (atMs: number) => DayName {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    ...{ year: "numeric", month: "2-digit", day: "2-digit" },
  });
  return (atMs) => {
    const parts = format.formatToParts(atMs);
    const find = (type: string): string => parts.find((part) => part.type === type)?.value ?? "";
    return `${find("year").padStart(4, "0")}-${find("month")}-${find("day")}`;
  };
}

/** The first minute of a day there. A day that the zone skipped starts with the next one. */
export function findDayStart(day: DayName, name: (atMs: number) => DayName): number {
  const middle = Math.floor(Date.parse(`${day}T00:00:00Z`) / MINUTE_MS);
  let low = middle - HALF_DAY_MINUTES;
  let high = middle + HALF_DAY_MINUTES;
  while (low < high) {
    const at = Math.floor((low + high) / 2);
    if (name(at * MINUTE_MS) < day) low = at + 1;
    else high = at;
  }
  return low * MINUTE_MS;
}

/** The day after, by the calendar alone. */
export function addDays(day: DayName, count: number): DayName {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

export interface DaySpan {
  day: DayName;
  from_ms: number;
  to_ms: number;
}

/** The days of a span of time, oldest first; the first and last may be parts of a day. */
export function listDays(timeZone: string, from_ms: number, to_ms: number): DaySpan[] {
  const name = createNamer(timeZone);
  const days: DaySpan[] = [];
  let day = name(from_ms);
  for (let at = from_ms; at < to_ms; ) {
    const next = addDays(day, 1);
    const end = Math.min(findDayStart(next, name), to_ms);
    if (end > at) days.push({ day, from_ms: at, to_ms: end });
    at = Math.max(at, end);
    day = next;
  }
  return days;
}
