// Commands that list sessions: all, children, status, show.
import { sanitizeLine } from "../../base/sanitize.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import type { SessionsFilter, SessionView } from "../../client/index.ts";
import { formatAge, nameState } from "../../client/view/format.ts";
import { type Arguments, defineFlag } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import { FILTERS, readFilter, readOutsideFilter, STATE_NAMES } from "./list-filter.ts";
import { findElseOutside, listOutside, showTranscript } from "./outside.ts";
import {
  buildTree,
  formatCost,
  formatProjects,
  formatSessionSheet,
  formatSessionTable,
  formatSessionTree,
  getStateName,
  isWaiting,
  type StyledLine,
} from "./session-lines.ts";

export const ALL: BlemeesCommand = {
  name: "all",
  aliases: ["ls"],
  usage: "all",
  summary: "list all sessions: state, age, cost, pending requests, last action",
  words: [0, 0],
  flags: [
    ...FILTERS,
    defineFlag("--by-project", "grouped by project"),
    defineFlag("--outside", "instead sessions that were started outside: the agents' own transcripts"),
    defineFlag("--ids", "print only ids and names, one per line"),
  ],
  examples: ["all", "all --waiting --json", "all --project app --label api --newer 7d", "all --outside"],
  notes: ["Read a session that was started outside with show and tail; continue it with adopt."],
  async run(given, context) {
    if (given.flags["outside"]) return runOutside(given, context);
    const filter = readFilter(given, Date.now());
    const http = await context.connect();
    const sessions = await http.sessions(filter);
    if (given.flags["ids"]) return show(context, { sessions }, () => listIds(sessions));
    const format = given.flags["by-project"] ? formatProjects : formatSessionTable;
    return showViews(context, { sessions }, sessions, format, isNarrow(filter) ? NONE_FITS : undefined);
  },
};

export const CHILDREN: BlemeesCommand = {
  name: "children",
  aliases: ["tree"],
  usage: "children [ID]",
  summary: "list sessions as a tree: those below ID; without ID all, or inside an agent its own children",
  words: [0, 1],
  completes: "session",
  flags: [defineFlag("--live", "omit stopped sessions")],
  examples: ["children", "children manager", "children --live"],
  async run(given, context) {
    const http = await context.connect();
    const id = given.words[0] ?? context.self;
    const all =
      id === undefined
        ? await http.sessions()
        : (await http.family((await findSession(http, id)).session_id)).map(({ session }) => session);
    const views = given.flags["live"] ? all.filter((view) => view.activity_state !== "stopped") : all;
    const sessions = buildTree(views).map(({ depth, view }) => ({ depth, session: view }));
    return showViews(context, { sessions }, views, formatSessionTree);
  },
};

export const SHOW: BlemeesCommand = {
  name: "show",
  usage: "show ID",
  summary: "show everything about one session, also one that was started outside",
  words: [1, 1],
  completes: "session",
  examples: ["show fixer"],
  async run({ words }, context) {
    const [id = ""] = words;
    const http = await context.connect();
    return findElseOutside(
      http,
      id,
      async () => {
        const session = await findSession(http, id);
        return show(context, session, () =>
          formatSessionSheet(session, Number.POSITIVE_INFINITY, Date.now()),
        );
      },
      (transcript) => showTranscript(transcript, context),
    );
  },
};

export const STATUS: BlemeesCommand = {
  name: "status",
  usage: "status",
  summary: "show the daemon, session counts by state, and pending requests",
  words: [0, 0],
  examples: ["status"],
  async run(_given, context) {
    const http = await context.connect();
    const [daemon, sessions, requests] = await Promise.all([
      http.status(),
      http.sessions(),
      http.allRequests(),
    ]);
    const counts = Object.fromEntries(
      STATE_NAMES.map((state) => [
        state,
        sessions.filter((session) => getStateName(session) === state).length,
      ]),
    );
    const { output } = context;
    const { program } = context.words;
    return show(context, { daemon, sessions: { total: sessions.length, ...counts }, requests }, () => [
      ...formatTable(
        [...daemonRows(daemon, http.socket), ["sessions", countText(sessions, counts)]],
        output.columns,
      ),
      ...sessions.filter(isWaiting).flatMap((view) => [
        "",
        ...formatSessionTable([view], output.columns, Date.now())
          .slice(1)
          .map(({ text }) => text),
        ...requests
          .filter(({ session_id }) => session_id === view.session_id)
          .map(({ request_id, payload }) => `  ? ${request_id}  ${sanitizeLine(payload.title)}`),
      ]),
      ...(requests.length === 0
        ? []
        : [
            "",
            `Show one with ${program} requests REQUEST; answer with ${program} approve, decline or answer`,
          ]),
    ]);
  },
};

export async function showViews(
  context: BlemeesContext,
  document: object,
  views: readonly SessionView[],
  lines: (views: readonly SessionView[], columns: number, nowMs: number) => StyledLine[],
  empty = 'No sessions; start one with: sm spawn claude "…" (or demo)',
): Promise<number> {
  const { output } = context;
  if (context.isJson) {
    await output.json(document);
    return 0;
  }
  if (views.length === 0) output.note(empty);
  else
    for (const { text, style } of lines(views, output.columns, Date.now()))
      await output.styledLine(style, text);
  return 0;
}

async function runOutside(given: Arguments, context: BlemeesContext): Promise<number> {
  const filter = readOutsideFilter(given, Date.now());
  if (!given.flags["ids"]) return listOutside(filter, context);
  const reply = await (await context.connect()).transcripts(filter);
  return show(context, reply, () => reply.transcripts.map(({ session_id }) => session_id));
}

const NONE_FITS = "No session fits; without flags sm all lists all that are not archived";

/** Whether it is about more than leaving out the archived ones. */
function isNarrow({ archived, ...filter }: SessionsFilter): boolean {
  return archived === true || Object.keys(filter).length > 0;
}

/** For completion: ids and single-word names, without duplicates. */
export function listIds(sessions: readonly SessionView[]): string[] {
  const words = sessions.flatMap(({ session_id, name }) =>
    name === undefined || !isPlainWord(name) ? [session_id] : [session_id, name],
  );
  return [...new Set(words)];
}

function daemonRows(status: Record<string, unknown>, socket: string): string[][] {
  const { daemon, pid, uptime_s, backends } = status;
  const up = typeof uptime_s === "number" ? `, up ${formatAge(uptime_s * 1000)}` : "";
  const agents = Object.entries((backends ?? {}) as Record<string, string>);
  return [
    ["daemon", `${String(daemon)}, pid ${String(pid)}${up}`],
    ["socket", socket],
    ["agents", agents.map(([name, version]) => `${name} ${version}`).join(", ") || "none found: sm doctor"],
  ];
}

function countText(sessions: readonly SessionView[], counts: Record<string, number>): string {
  const states = Object.entries(counts).flatMap(([state, count]) =>
    count === 0 ? [] : [`${count} ${nameState(state)}`],
  );
  const costs = sessions.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]));
  const cost = costs.length === 0 ? "" : `; ${formatCost(costs.reduce((sum, one) => sum + one, 0))} in total`;
  return `${sessions.length}${states.length === 0 ? "" : `: ${states.join(", ")}`}${cost}`;
}
