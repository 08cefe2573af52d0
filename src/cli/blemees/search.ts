// `sm search`: what was said in any session, with the words highlighted.
import { addDays, createNamer, findDayStart } from "../../base/days.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, SearchHit, SearchReply, SearchRole } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { cutMarked, ROLE_NAMES, splitBySession, splitMarks } from "../../client/view/search-hits.ts";
import {
  type Arguments,
  defineFlag,
  didYouMean,
  readNumberFlag,
  readTextFlag,
  UsageError,
} from "../command.ts";
import type { Output, Style } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand } from "./command.ts";
import { findSession, shortenIds } from "./find.ts";
import { readDay } from "./usage.ts";

const DEFAULT_LINES = 20;
const MAX_PAGE = 100;
const ROLES = ["user", "agent", "tool"] as const satisfies readonly SearchRole[];
const AGE_WIDTH = 4;
const ROLE_WIDTH = 6;

export const SEARCH: BlemeesCommand = {
  name: "search",
  usage: "search WORDS…",
  summary: "find what was said or done in any session, by its words",
  words: [1, ANY],
  flags: [
    defineFlag("--in ID", "only this session", { completes: "session" }),
    defineFlag("--project NAME", "only sessions of this project: its directory or its name"),
    defineFlag("--agent NAME", "only sessions of this agent, such as claude"),
    defineFlag("--role LIST", `only texts of these: ${ROLES.join(", ")}`),
    defineFlag("--since DAY", "not before this day: 2026-01-31, today, yesterday, 7d or 2w"),
    defineFlag("--until DAY", "not after this day, written the same way"),
    defineFlag("-n, --lines N", `print up to N hits (default ${DEFAULT_LINES})`),
  ],
  examples: [
    "search token rotation",
    "search readPage --role tool --since 7d",
    `search '"merge conflict"' --project shop`,
  ],
  notes: [
    "All words must occur, each at least as a part of one; words in double quotes as a phrase. Newer texts come first, and",
    "what the user wrote before what tools returned. Read on from a hit with: sm events ID --since SEQ",
    "Sessions that were started outside are searched too; the first search starts to index them. Read one with: sm tail ID",
  ],
  async run(given, context) {
    const { query, lines } = readOrder(given);
    const http = await context.connect();
    const id = readTextFlag(given, "in");
    const scope = id === undefined ? {} : { session_id: (await findSession(http, id)).session_id };
    const reply = await readHits(http, { ...query, ...scope }, lines);
    const { output, isJson } = context;
    if (isJson) {
      await output.json(reply);
      return 0;
    }
    await printHits(reply.hits, output);
    if (reply.hits.some(({ outside }) => outside))
      output.note("What was started outside is read with: sm tail ID; sm adopt ID continues it here");
    if (reply.hits.length === 0) output.note(`Nothing found for ${JSON.stringify(query.q)}`);
    if (reply.unindexed !== undefined) output.note(explainUnindexed(reply.unindexed));
    return 0;
  },
};

type Filter = Parameters<HttpClient["search"]>[0];

function readOrder(given: Arguments): { query: Filter; lines: number } {
  const time_zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const name = createNamer(time_zone);
  const today = name(Date.now());
  const since = readDay(given, "since", today);
  const until = readDay(given, "until", today);
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError(`--since ${since} is after --until ${until}`);
  const query = {
    q: given.words.join(" "),
    ...defined({
      project: readTextFlag(given, "project"),
      agent: readTextFlag(given, "agent"),
      role: readRoles(given),
      from: since && findDayStart(since, name),
      to: until && findDayStart(addDays(until, 1), name),
    }),
  };
  return {
    query: query as Filter,
    lines: readNumberFlag(given, "lines", { isWhole: true, least: 1 }) ?? DEFAULT_LINES,
  };
}

function readRoles(given: Arguments): SearchRole[] | undefined {
  return readTextFlag(given, "role")
    ?.split(",")
    .map((role) => {
      const found = ROLES.find((one) => one === role);
      if (found !== undefined) return found;
      const hint = didYouMean(role, ROLES) || `; one of ${ROLES.join(", ")}`;
      throw new UsageError(`--role: unknown role ${JSON.stringify(role)}${hint}`);
    });
}

/** Pages until there are enough. */
async function readHits(http: HttpClient, query: Filter, wanted: number): Promise<SearchReply> {
  const reply: SearchReply = { hits: [] };
  do {
    const limit = Math.min(MAX_PAGE, wanted - reply.hits.length);
    const page = await http.search({ ...query, ...defined({ after: reply.next }), limit });
    reply.hits.push(...page.hits);
    delete reply.next;
    Object.assign(reply, defined({ next: page.next, unindexed: page.unindexed }));
  } while (reply.next !== undefined && reply.hits.length < wanted);
  return reply;
}

/** A head for each session, in the order of its best hit, and a line for each hit. */
async function printHits(hits: readonly SearchHit[], output: Output): Promise<void> {
  const shorts = shortenIds(hits.map(({ session_id }) => session_id));
  const seqWidth = Math.max(0, ...hits.map(({ seq }) => String(seq).length));
  const now = Date.now();
  for (const own of splitBySession(hits)) {
    const [first] = own;
    if (first !== undefined)
      await output.styledLine("bold", formatHead(first, shorts.get(first.session_id) ?? ""));
    for (const hit of own) await printHit(hit, { seqWidth, now }, output);
  }
}

async function printHit(
  hit: SearchHit,
  { seqWidth, now }: { seqWidth: number; now: number },
  output: Output,
) {
  const age = hit.at_ms === undefined ? "" : formatAge(now - hit.at_ms);
  const place = `  ${age.padStart(AGE_WIDTH)}  ${String(hit.seq).padStart(seqWidth)}  ${ROLE_NAMES[hit.role].padEnd(ROLE_WIDTH)}`;
  const text = splitMarks(cutMarked(hit, output.columns - place.length));
  const parts = text.map(({ isMarked, text: part }): [Style | undefined, string] => [
    isMarked ? ["bold", "yellow"] : undefined,
    part,
  ]);
  await output.styledParts([["dim", place], ...parts]);
}

function formatHead({ name, agent, project, outside }: SearchHit, id: string): string {
  const place = project?.split("/").at(-1);
  return [id, name, place, agent, outside && "started outside"]
    .flatMap((part) => (part ? [sanitizeLine(part)] : []))
    .join("  ");
}

function explainUnindexed(count: number): string {
  return `${count === 1 ? "1 session is" : `${count} sessions are`} still being indexed; search again in a moment`;
}
