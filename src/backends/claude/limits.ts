// The limits of the account: `rate_limit_event` frames, and the answer to the control request `get_usage`, as `rate_limits`
// notices.
import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, defined } from "../../base/values.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { type NoticeData, toNotice } from "../../protocol/notices.ts";

type Limit = NonNullable<NoticeData<"rate_limits">["limit"]>;

const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
/** Seen on 2.1.325. */
const WINDOWS: ReadonlyMap<string, { window: string; window_minutes?: number }> = new Map([
  ["five_hour", { window: "5h", window_minutes: 5 * HOUR_MINUTES }],
  ["seven_day", { window: "7d", window_minutes: 7 * DAY_MINUTES }],
  ["seven_day_opus", { window: "7d opus", window_minutes: 7 * DAY_MINUTES }],
  ["seven_day_sonnet", { window: "7d sonnet", window_minutes: 7 * DAY_MINUTES }],
  ["overage", { window: "overage" }],
]);

export function translateRateLimit(frame: JsonObject): NoticeEvent {
  const { type: _type, rate_limit_info: info, ...rest } = frame;
  const { resetsAt, status, ...vendor } = asObject(info);
  const { rateLimitType: kind, unifiedWindows: all } = vendor;
  const limit: Limit = {
    ...(typeof kind === "string" ? nameWindow(kind) : {}),
    ...defined({ resets_at_ms: toMs(resetsAt), status: asString(status) }),
  };
  const limits = Object.entries(asObject(all)).map(([name, value]) => {
    const { utilization, resetsAt: reset, status: state } = asObject(value);
    return {
      ...nameWindow(name),
      ...defined({
        // Here a fraction, in `get_usage` a percentage.
        used_percent: typeof utilization === "number" ? toPercent(utilization * 100) : undefined,
        resets_at_ms: toMs(reset),
        status: asString(state),
      }),
    };
  });
  const others = { ...vendor, ...rest };
  const data = {
    ...(Object.keys(limit).length > 0 ? { limit } : {}),
    ...(limits.length > 0 ? { limits } : {}),
    ...(Object.keys(others).length > 0 ? { vendor: others } : {}),
  };
  return toNotice("claude", "rate_limits", { data });
}

/** Undefined: this account has no such limits, or nothing is known of them. */
export function translateUsage({ rate_limits: reported }: JsonObject): NoticeEvent | undefined {
  if (!isObject(reported)) return undefined;
  const { model_scoped: scoped, ...named } = reported;
  const limits = Object.entries(named).flatMap(([name, value]) =>
    WINDOWS.has(name) && isObject(value) ? [readUsage(nameWindow(name), value)] : [],
  );
  for (const value of asObjects(scoped)) {
    const model = asString(value["display_name"])?.toLowerCase();
    const window_minutes = 7 * DAY_MINUTES;
    if (model !== undefined) limits.push(readUsage({ window: `7d ${model}`, window_minutes }, value));
  }
  return limits.length === 0 ? undefined : toNotice("claude", "rate_limits", { data: { limits } });
}

function readUsage(window: Limit, { utilization, resets_at }: JsonObject): Limit {
  const reset = typeof resets_at === "string" ? Date.parse(resets_at) : Number.NaN;
  return {
    ...window,
    ...defined({
      used_percent: typeof utilization === "number" ? toPercent(utilization) : undefined,
      resets_at_ms: reset >= 0 ? reset : undefined,
    }),
  };
}

function nameWindow(name: string): { window: string; window_minutes?: number } {
  return WINDOWS.get(name) ?? { window: name.replaceAll("_", " ") };
}

function toMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" && seconds >= 0 ? Math.round(seconds * 1000) : undefined;
}

function toPercent(value: number): number {
  return Math.round(value * 10) / 10;
}
