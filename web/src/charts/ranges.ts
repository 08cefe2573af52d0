// Time ranges of the charts and their buckets, in local time: aligned to full hours and midnight, also across DST.
export const RANGES = ["hour", "day", "week"] as const;
export type TimeRange = (typeof RANGES)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SPAN_MS: Record<TimeRange, number> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS };
/** Minutes in a bucket of the shortest range. */
const FINE_MINUTES = 2;

export interface TimeSpan {
  from_ms: number;
  to_ms: number;
}

export function findSpan(range: TimeRange, now_ms: number): TimeSpan {
  return { from_ms: now_ms - SPAN_MS[range], to_ms: now_ms };
}

/** The shortest range that contains all moments; `otherwise` if there are none. */
export function fittingRange(moments: readonly number[], now_ms: number, otherwise: TimeRange): TimeRange {
  if (moments.length === 0) return otherwise;
  const earliest = moments.reduce((a, b) => Math.min(a, b));
  return RANGES.find((range) => findSpan(range, now_ms).from_ms <= earliest) ?? otherwise;
}

/** Bucket starts, oldest first: minutes of an hour, hours of a day, days of a week. */
export function bucketStarts(range: TimeRange, span: TimeSpan): number[] {
  const starts: number[] = [];
  for (let at = floorTo(range, span.from_ms); at <= span.to_ms; at = next(range, at)) starts.push(at);
  return starts;
}

function floorTo(range: TimeRange, at_ms: number): number {
  const date = new Date(at_ms);
  if (range === "hour") return date.setMinutes(date.getMinutes() - (date.getMinutes() % FINE_MINUTES), 0, 0);
  return range === "day" ? date.setMinutes(0, 0, 0) : date.setHours(0, 0, 0, 0);
}

function next(range: TimeRange, at_ms: number): number {
  if (range === "hour") return at_ms + FINE_MINUTES * MINUTE_MS;
  if (range === "day") return at_ms + HOUR_MS;
  const date = new Date(at_ms);
  return date.setDate(date.getDate() + 1);
}

const FORMATS: Record<TimeRange, Intl.DateTimeFormatOptions> = {
  hour: { hour: "2-digit", minute: "2-digit" },
  day: { hour: "2-digit", minute: "2-digit" },
  week: { weekday: "short", day: "numeric" },
};

/** "14:00", "Mon 16" */
export function bucketName(range: TimeRange, at_ms: number): string {
  return new Intl.DateTimeFormat(undefined, { ...FORMATS[range], hourCycle: "h23" }).format(at_ms);
}

/** A time, as precise as the range needs. */
export function momentName(range: TimeRange, at_ms: number): string {
  const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const dated = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return (range === "week" ? new Intl.DateTimeFormat(undefined, dated) : time).format(at_ms);
}

/** Round times within a span for axis labels. */
export function createTicks(range: TimeRange, span: TimeSpan, most = 8): number[] {
  const ticks = roundMoments(range, span).filter((at) => at >= span.from_ms);
  const every = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((_, index) => index % every === 0);
}

function roundMoments(range: TimeRange, span: TimeSpan): number[] {
  // Days do not always have 24 hours.
  if (range === "week") return bucketStarts(range, span);
  const step = range === "hour" ? 10 * MINUTE_MS : 3 * HOUR_MS;
  const moments: number[] = [];
  for (let at = new Date(span.from_ms).setHours(0, 0, 0, 0); at <= span.to_ms; at += step) moments.push(at);
  return moments;
}
