// The commands that look: all, children, status, show.

import { sanitizeLine } from "../../base/sanitize.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import type { SessionsFilter, SessionView } from "../../client/index.ts";
import { type Arguments, didYouMean, type Flag, UsageError } from "../command.ts";
import { duration } from "../duration.ts";
import { table } from "../output.ts";
import { type Command, type Context, numberFlag, show, textFlag } from "./command.ts";
import { findSession } from "./find.ts";
import {
  costText,
  isWaiting,
  type StyledLine,
  sessionSheet,
  sessionTable,
  sessionTree,
  stateName,
  treeOf,
} from "./session-lines.ts";
import { ACTIVITY_STATE_NAMES } from "./states.ts";

const FILTERS: readonly Flag[] = [
  { name: "live", summary: "only those in the daemon's memory, not what was put away" },
  { name: "state", value: "STATE", summary: `only those in this state: ${ACTIVITY_STATE_NAMES.join(", ")}` },
  { name: "agent", short: "a", value: "NAME", summary: "only those of this agent" },
  { name: "cwd", value: "DIR", summary: "only those that work there" },
  { name: "limit", value: "N", summary: "the most recently active ones" },
];

export const ALL: Command = {
  name: "all",
  aliases: ["ls"],
  usage: "all",
  summary: "every session: state, last action, age, cost, what waits",
  words: [0, 0],
  flags: [...FILTERS, { name: "ids", summary: "only ids and names, one a line" }],
  examples: ["all", "all --state waiting_permission --json"],
  async run(given, context) {
    const http = await context.connect();
    const sessions = await http.sessions(filterOf(given));
    if (given.flags["ids"]) return show(context, { sessions }, () => idsOf(sessions));
    return showViews(context, { sessions }, sessions, sessionTable);
  },
};

export const CHILDREN: Command = {
  name: "children",
  aliases: ["tree"],
  usage: "children [ID]",
  summary: "sessions as a tree: a session and all below it; inside an agent its own, else all",
  words: [0, 1],
  completes: "session",
  flags: [{ name: "live", summary: "leave out those that are stopped" }],
  examples: ["children", "children manager", "children --live"],
  async run(given, context) {
    const http = await context.connect();
    const id = given.words[0] ?? context.self;
    const all =
      id === undefined
        ? await http.sessions()
        : (await http.family((await findSession(http, id)).session_id)).map(({ session }) => session);
    const views = given.flags["live"] ? all.filter((view) => view.activity_state !== "stopped") : all;
    const sessions = treeOf(views).map(({ depth, view }) => ({ depth, session: view }));
    return showViews(context, { sessions }, views, sessionTree);
  },
};

export const SHOW: Command = {
  name: "show",
  usage: "show ID",
  summary: "all about one session",
  words: [1, 1],
  completes: "session",
  examples: ["show fixer"],
  async run({ words }, context) {
    const session = await findSession(await context.connect(), words[0] ?? "");
    return show(context, session, () => sessionSheet(session, Number.POSITIVE_INFINITY, Date.now()));
  },
};

export const STATUS: Command = {
  name: "status",
  usage: "status",
  summary: "the daemon, how many sessions are in which state, and who waits for you",
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
        sessions.filter((session) => stateName(session) === state).length,
      ]),
    );
    const { output } = context;
    return show(context, { daemon, sessions: { total: sessions.length, ...counts }, requests }, () => [
      ...table(
        [...daemonRows(daemon, http.socket), ["sessions", countText(sessions, counts)]],
        output.columns,
      ),
      ...sessions.filter(isWaiting).flatMap((view) => [
        "",
        ...sessionTable([view], output.columns, Date.now())
          .slice(1)
          .map(({ text }) => text),
        ...requests
          .filter(({ session_id }) => session_id === view.session_id)
          .map(({ request_id, payload }) => `  ? ${request_id}  ${sanitizeLine(payload.title)}`),
      ]),
      ...(requests.length === 0
        ? []
        : ["", "answer with: sm requests REQUEST, then sm approve, decline or answer"]),
    ]);
  },
};

export async function showViews(
  context: Context,
  document: object,
  views: readonly SessionView[],
  lines: (views: readonly SessionView[], columns: number, nowMs: number) => StyledLine[],
): Promise<number> {
  const { output } = context;
  if (context.isJson) {
    await output.json(document);
    return 0;
  }
  if (views.length === 0) output.note('no such sessions; begin one with: sm spawn claude "…" (or demo)');
  else
    for (const { text, style } of lines(views, output.columns, Date.now())) {
      if (style === undefined) await output.line(text);
      else await output.styledLine(style, text);
    }
  return 0;
}

function filterOf(given: Arguments): SessionsFilter {
  const agent = textFlag(given, "agent");
  const cwd = textFlag(given, "cwd");
  const state = textFlag(given, "state")?.split(",");
  const limit = numberFlag(given, "limit", { least: 1, isWhole: true });
  for (const name of state ?? []) {
    if (!ACTIVITY_STATE_NAMES.includes(name as never))
      throw new UsageError(
        `unknown state "${name}"${didYouMean(name, ACTIVITY_STATE_NAMES) || `; states are ${ACTIVITY_STATE_NAMES.join(", ")}`}`,
      );
  }
  return {
    ...(agent === undefined ? {} : { backend: agent === "codex-app" ? "codex" : agent }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(state === undefined ? {} : { state }),
    ...(limit === undefined ? {} : { limit }),
    ...(given.flags["live"] ? { live: true } : {}),
  };
}

/** For completion: what can stand for a session in one word; a name of several once. */
export function idsOf(sessions: readonly SessionView[]): string[] {
  const words = sessions.flatMap(({ session_id, name }) =>
    name === undefined || !isPlainWord(name) ? [session_id] : [session_id, name],
  );
  return [...new Set(words)];
}

function daemonRows(status: Record<string, unknown>, socket: string): string[][] {
  const { daemon, pid, uptime_s, backends } = status;
  const up = typeof uptime_s === "number" ? `, up ${duration(uptime_s * 1000)}` : "";
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
  const cost = costs.length === 0 ? "" : `; ${costText(costs.reduce((sum, one) => sum + one, 0))} in all`;
  return `${sessions.length}${states.length === 0 ? "" : `: ${states.join(", ")}`}${cost}`;
}
