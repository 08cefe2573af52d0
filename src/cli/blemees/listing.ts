// Commands that list sessions: all, children, status, show.
import { sanitizeLine } from "../../base/sanitize.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import { defined } from "../../base/values.ts";
import type { FilterState, SessionsFilter, SessionView } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import {
  type Arguments,
  defineFlag,
  didYouMean,
  type Flag,
  readNumberFlag,
  readTextFlag,
  UsageError,
} from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findSession } from "./find.ts";
import {
  buildTree,
  formatCost,
  formatSessionSheet,
  formatSessionTable,
  formatSessionTree,
  getStateName,
  isWaiting,
  type StyledLine,
} from "./session-lines.ts";

/** Listed here, so that the schemas are not loaded. */
const STATES: Record<FilterState, true> = {
  working: true,
  thinking: true,
  waiting_input: true,
  waiting_permission: true,
  idle: true,
  stopped: true,
  starting: true,
  failed: true,
};

const ACTIVITY_STATE_NAMES = Object.keys(STATES) as readonly FilterState[];

const FILTERS: readonly Flag[] = [
  defineFlag("--live", "only live sessions (in the daemon's memory)"),
  defineFlag(
    "--state STATE",
    `only sessions in these states, separated by commas: ${ACTIVITY_STATE_NAMES.join(", ")}`,
  ),
  defineFlag("-a, --agent NAME", "only sessions of this agent"),
  defineFlag("--cwd DIR", "only sessions in this directory"),
  defineFlag("--limit N", "only the N most recently active"),
];

export const ALL: BlemeesCommand = {
  name: "all",
  aliases: ["ls"],
  usage: "all",
  summary: "list all sessions: state, age, cost, pending requests, last action",
  words: [0, 0],
  flags: [...FILTERS, defineFlag("--ids", "print only ids and names, one per line")],
  examples: ["all", "all --state waiting_permission --json"],
  async run(given, context) {
    const http = await context.connect();
    const sessions = await http.sessions(readFilter(given));
    if (given.flags["ids"]) return show(context, { sessions }, () => listIds(sessions));
    return showViews(context, { sessions }, sessions, formatSessionTable);
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
  summary: "show everything about one session",
  words: [1, 1],
  completes: "session",
  examples: ["show fixer"],
  async run({ words }, context) {
    const session = await findSession(await context.connect(), words[0] ?? "");
    return show(context, session, () => formatSessionSheet(session, Number.POSITIVE_INFINITY, Date.now()));
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
      ACTIVITY_STATE_NAMES.map((state) => [
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
): Promise<number> {
  const { output } = context;
  if (context.isJson) {
    await output.json(document);
    return 0;
  }
  if (views.length === 0) output.note('No sessions; start one with: sm spawn claude "…" (or demo)');
  else
    for (const { text, style } of lines(views, output.columns, Date.now()))
      await output.styledLine(style, text);
  return 0;
}

function readFilter(given: Arguments): SessionsFilter {
  const agent = readTextFlag(given, "agent");
  const cwd = readTextFlag(given, "cwd");
  const state = readTextFlag(given, "state")?.split(",");
  const limit = readNumberFlag(given, "limit", { least: 1, isWhole: true });
  for (const name of state ?? []) {
    if (!ACTIVITY_STATE_NAMES.includes(name as never))
      throw new UsageError(
        `unknown state "${name}"${didYouMean(name, ACTIVITY_STATE_NAMES) || `; the states are ${ACTIVITY_STATE_NAMES.join(", ")}`}`,
      );
  }
  return {
    ...(agent === undefined ? {} : { backend: agent === "codex-app" ? "codex" : agent }),
    ...defined({ cwd, state, limit }),
    ...(given.flags["live"] ? { live: true } : {}),
  };
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
    count === 0 ? [] : [`${count} ${state}`],
  );
  const costs = sessions.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]));
  const cost = costs.length === 0 ? "" : `; ${formatCost(costs.reduce((sum, one) => sum + one, 0))} in total`;
  return `${sessions.length}${states.length === 0 ? "" : `: ${states.join(", ")}`}${cost}`;
}
