// The spans of time that the charts show, and the buckets in them. In the person's own time zone: an hour begins at a
// full hour, a day at midnight, also where clocks change.
export const RANGES = ["hour", "day", "week"] as const;
export type Range = (typeof RANGES)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SPAN_MS: Record<Range, number> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS };
/** Minutes in a bucket of the shortest range. */
const FINE_MINUTES = 2;

export interface Span {
  from_ms: number;
  to_ms: number;
}

export function spanOf(range: Range, now_ms: number): Span {
  return { from_ms: now_ms - SPAN_MS[range], to_ms: now_ms };
}

/** The shortest one in which all of these moments lie; without any the one that is asked for. */
export function fittingRange(moments: readonly number[], now_ms: number, otherwise: Range): Range {
  if (moments.length === 0) return otherwise;
  const earliest = moments.reduce((a, b) => Math.min(a, b));
  return RANGES.find((range) => spanOf(range, now_ms).from_ms <= earliest) ?? otherwise;
}

/** Where the buckets begin, oldest first: minutes in an hour, hours in a day, days in a week. */
export function bucketStarts(range: Range, span: Span): number[] {
  const starts: number[] = [];
  for (let at = floorTo(range, span.from_ms); at <= span.to_ms; at = next(range, at)) starts.push(at);
  return starts;
}

function floorTo(range: Range, at_ms: number): number {
  const date = new Date(at_ms);
  if (range === "hour") return date.setMinutes(date.getMinutes() - (date.getMinutes() % FINE_MINUTES), 0, 0);
  return range === "day" ? date.setMinutes(0, 0, 0) : date.setHours(0, 0, 0, 0);
}

function next(range: Range, at_ms: number): number {
  if (range === "hour") return at_ms + FINE_MINUTES * MINUTE_MS;
  if (range === "day") return at_ms + HOUR_MS;
  const date = new Date(at_ms);
  return date.setDate(date.getDate() + 1);
}

const FORMATS: Record<Range, Intl.DateTimeFormatOptions> = {
  hour: { hour: "2-digit", minute: "2-digit" },
  day: { hour: "2-digit", minute: "2-digit" },
  week: { weekday: "short", day: "numeric" },
};

/** The name of a bucket: "14:00", "Mon 16". */
export function bucketName(range: Range, at_ms: number): string {
  return new Intl.DateTimeFormat(undefined, { ...FORMATS[range], hourCycle: "h23" }).format(at_ms);
}

/** A moment in a range, exact enough for it. */
export function momentName(range: Range, at_ms: number): string {
  const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const dated = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return (range === "week" ? new Intl.DateTimeFormat(undefined, dated) : time).format(at_ms);
}

/** Round moments inside a span to write at an axis. */
export function ticksOf(range: Range, span: Span, most = 8): number[] {
  const ticks = roundMoments(range, span).filter((at) => at >= span.from_ms);
  const every = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((_, index) => index % every === 0);
}

function roundMoments(range: Range, span: Span): number[] {
  // Days have not always 24 hours.
  if (range === "week") return bucketStarts(range, span);
  const step = range === "hour" ? 10 * MINUTE_MS : 3 * HOUR_MS;
  const moments: number[] = [];
  for (let at = new Date(span.from_ms).setHours(0, 0, 0, 0); at <= span.to_ms; at += step) moments.push(at);
  return moments;
}
