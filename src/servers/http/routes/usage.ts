// The route of usage: what turns used in a span of days.
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { addDays, createNamer, DAY_NAME, findDayStart, isTimeZone } from "../../../base/days.ts";
import { defined } from "../../../base/values.ts";
import { SessionId } from "../../../protocol/session.ts";
import { USAGE_GROUPS, UsageReply } from "../../../protocol/usage-report.ts";
import type { UsageOrder } from "../../../sessions/index.ts";
import { Cursor, defineWholeNumber } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const DEFAULT_DAYS = 30;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const DAY_MS = 86_400_000;
/** A sum is made for each of them. */
const MAX_DAYS = 4_000;

const Day = z.string().regex(DAY_NAME, { message: "expected a day such as 2026-01-31, or milliseconds" });
const Moment = z.union([Cursor, Day]);

export const UsageQuery = z.strictObject({
  by: z.enum(USAGE_GROUPS).optional().describe("What the turns are grouped by. Default: `day`."),
  from: Moment.optional().describe(
    `The first day (\`2026-01-31\`), or a time in ms. Default: ${DEFAULT_DAYS} days including today.`,
  ),
  to: Moment.optional().describe("The last day, or the end as a time in ms. Default: now."),
  time_zone: z
    .string()
    .refine(isTimeZone, { message: "unknown time zone; expected a name such as Europe/Berlin" })
    .optional()
    .describe("The zone of the days. Default: the daemon's."),
  session_id: SessionId.optional().describe("Only this session."),
  limit: defineWholeNumber(1, MAX_LIMIT)
    .optional()
    .describe(`Maximum number of groups. Default: all days, else ${DEFAULT_LIMIT}; max ${MAX_LIMIT}.`),
  after: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .describe("`next` of the page before."),
});

export const USAGE_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/usage",
    name: "usage",
    summary:
      "What turns used: tokens, cost and time, by day, agent, project or session. A turn counts when it ends. What no agent reported is absent, not 0.",
    query: UsageQuery,
    replies: { 200: defineJsonReply("The sums.", "UsageReply", UsageReply) },
    errors: ["session_unknown"],
    handle: async ({ query }, { manager }) => ({ body: await manager.usage(toOrder(query, Date.now())) }),
  }),
];

function toOrder(query: z.infer<typeof UsageQuery>, nowMs: number): UsageOrder {
  const { by = "day", from, to, session_id, after } = query;
  const { time_zone = new Intl.DateTimeFormat().resolvedOptions().timeZone } = query;
  const name = createNamer(time_zone);
  const firstDay = typeof from === "string" ? from : addDays(name(nowMs), 1 - DEFAULT_DAYS);
  const from_ms = typeof from === "number" ? from : findDayStart(firstDay, name);
  const to_ms = typeof to === "string" ? findDayStart(addDays(to, 1), name) : (to ?? nowMs + 1);
  if (from_ms >= to_ms) throw new CodedError("invalid_message", "query: /from: must be before the end (to)");
  if (to_ms - from_ms > MAX_DAYS * DAY_MS)
    throw new CodedError("invalid_message", `query: /from: at most ${MAX_DAYS} days before the end (to)`);
  const limit = query.limit ?? (by === "day" ? MAX_DAYS : DEFAULT_LIMIT);
  return { by, from_ms, to_ms, time_zone, limit, ...defined({ session_id, after }) };
}
