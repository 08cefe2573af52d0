// `sm usage`: what turns used, by day, agent, project or session.
import { addDays, createNamer, DAY_NAME } from "../../base/days.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { cutToWidth } from "../../base/width.ts";
import type { HttpClient, UsageGroup, UsageReply, UsageSums } from "../../client/index.ts";
import { formatDuration, formatSpending, formatTokenSum } from "../../client/view/format.ts";
import { type Arguments, defineFlag, didYouMean, readTextFlag, UsageError } from "../command.ts";
import { formatTable } from "../output.ts";
import type { BlemeesCommand } from "./command.ts";
import { findSession, shortenIds } from "./find.ts";

const GROUPS = ["day", "agent", "project", "session"] as const;
type GroupBy = (typeof GROUPS)[number];
const PAGE = 1_000;
const DAY_MS = 86_400_000;
const MAX_NAME = 40;
const HEADS: Record<GroupBy, string> = {
  day: "DAY",
  agent: "AGENT",
  project: "PROJECT",
  session: "SESSION",
};

export const USAGE: BlemeesCommand = {
  name: "usage",
  usage: "usage [ID]",
  summary: "show turns, tokens, cost and time, by day, agent, project or session",
  words: [0, 1],
  completes: "session",
  flags: [
    defineFlag("--by GROUP", `${GROUPS.join(", ")} (default day)`),
    defineFlag("--since DAY", "the first day: 2026-01-31, today, yesterday, 7d or 2w (default 30d)"),
    defineFlag("--until DAY", "the last day, written the same way (default today)"),
  ],
  examples: ["usage", "usage --by agent --since 7d", "usage --by session --since yesterday --json"],
  notes: [
    "A turn counts on the day it ends, in the time zone of this shell. INPUT is without CACHED, which was read from the",
    "cache. WAITED is the part of TIME spent waiting for answers. A cost that the agent does not report is unknown.",
  ],
  async run(given, context) {
    const by = readGroup(given);
    const time_zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const today = createNamer(time_zone)(Date.now());
    const from = readDay(given, "since", today) ?? addDays(today, -29);
    const to = readDay(given, "until", today) ?? today;
    if (from > to) throw new UsageError(`--since ${from} is after --until ${to}`);
    const http = await context.connect();
    const [id] = given.words;
    const scope = id === undefined ? {} : { session_id: (await findSession(http, id)).session_id };
    const usage = await readAll(http, { by, from, to, time_zone, ...scope });
    const { output, isJson } = context;
    if (isJson) {
      await output.json(usage);
      return 0;
    }
    if (usage.groups.length === 0) output.note(`No turn ended from ${from} to ${to}`);
    else {
      const [head = "", ...lines] = formatUsage(usage, output.columns);
      const total = lines.pop() ?? "";
      await output.styledLine("dim", head);
      for (const line of lines) await output.line(line);
      await output.styledLine("bold", total);
    }
    const gap = explainGap(usage);
    if (gap !== undefined) output.note(gap);
    return 0;
  },
};

function readGroup(given: Arguments): GroupBy {
  const by = readTextFlag(given, "by") ?? "day";
  const found = GROUPS.find((one) => one === by);
  if (found !== undefined) return found;
  const hint = didYouMean(by, GROUPS) || `; one of ${GROUPS.join(", ")}`;
  throw new UsageError(`--by: unknown group ${JSON.stringify(by)}${hint}`);
}

/** `7d` is seven days including today. */
export function readDay(given: Arguments, flag: string, today: string): string | undefined {
  const text = readTextFlag(given, flag);
  if (text === undefined) return undefined;
  if (text === "today") return today;
  if (text === "yesterday") return addDays(today, -1);
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count !== undefined) return addDays(today, 1 - Math.max(1, Number(count) * (unit === "w" ? 7 : 1)));
  if (DAY_NAME.test(text) && addDays(text, 0) === text) return text;
  throw new UsageError(
    `--${flag} must be a day such as 2026-01-31, today, yesterday, 7d or 2w, not ${JSON.stringify(text)}`,
  );
}

type Filter = Parameters<HttpClient["usage"]>[0];

/** All pages as one reply. */
async function readAll(http: HttpClient, filter: Filter): Promise<UsageReply> {
  const limit = filter?.by === "day" ? {} : { limit: PAGE };
  const { next: first, ...usage } = await http.usage({ ...filter, ...limit });
  for (let next = first; next !== undefined; ) {
    const page = await http.usage({ ...filter, ...limit, after: next });
    usage.groups.push(...page.groups);
    next = page.next;
  }
  return usage;
}

/** A head, a line for each group, and the total. */
export function formatUsage({ by, groups, total }: UsageReply, columns: number): string[] {
  const names = nameGroups(by, groups);
  const cells = (sums: UsageSums): string[] => [
    String(sums.turns),
    formatTokenSum(sums.input_tokens),
    formatTokenSum(sums.cached_tokens),
    formatTokenSum(sums.output_tokens),
    formatSpending(sums),
    formatDuration(sums.duration_ms),
    sums.waited_ms === 0 ? "" : formatDuration(sums.waited_ms),
  ];
  return formatTable(
    [
      [HEADS[by], "TURNS", "INPUT", "CACHED", "OUTPUT", "COST", "TIME", "WAITED"],
      ...groups.map((group, at) => [names[at] ?? "", ...cells(group)]),
      ["total", ...cells(total)],
    ],
    columns,
  );
}

function nameGroups(by: GroupBy, groups: readonly UsageGroup[]): string[] {
  if (by === "session") {
    const shorts = shortenIds(groups.map(({ key }) => key));
    return groups.map(({ key, name }) => {
      if (key === "") return "deleted sessions";
      const short = shorts.get(key) ?? key;
      return name === undefined ? short : cutToWidth(`${short}  ${sanitizeLine(name)}`, MAX_NAME);
    });
  }
  return groups.map(({ key }) => (key === "" ? "unknown" : key));
}

/** Nothing is known of turns before the first recorded one. */
function explainGap({ from_ms, recorded_since_ms, time_zone }: UsageReply): string | undefined {
  if (recorded_since_ms === undefined || recorded_since_ms - from_ms < DAY_MS) return undefined;
  return `Recorded since ${createNamer(time_zone)(recorded_since_ms)}`;
}
