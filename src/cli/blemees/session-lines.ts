// Sessions as tables, trees and sheets. Pure: views in, lines out.

import { sanitizeLine } from "../../base/sanitize.ts";
import { cutToWidth, measureWidth } from "../../base/width.ts";
import type { Action, FilterState, SessionView } from "../../client/index.ts";
import { findTightest, toBudgetLines } from "../../client/view/budget.ts";
import { getActiveMs } from "../../client/view/fleet.ts";
import { formatAge, formatState, formatTokens, formatCost as formatUsd } from "../../client/view/format.ts";
import { formatTable, type Style } from "../output.ts";
import { shortenIds } from "./find.ts";

const MAX_NAME = 24;
const MIN_NAME = 6;
const HEADER = [
  "SESSION",
  "NAME",
  "AGENT",
  "STATE",
  "AGE",
  "ACTIVE",
  "TOKENS",
  "COST",
  "PENDING",
  "PROJECT",
  "LAST ACTION",
];

export interface StyledLine {
  text: string;
  style?: Style;
}

export function formatSessionTable(
  views: readonly SessionView[],
  columns: number,
  nowMs: number,
): StyledLine[] {
  const shorts = shortenIds(views.map(({ session_id }) => session_id));
  const rows = views.map((view) => [shorts.get(view.session_id) ?? "", ...cells(view, nowMs)]);
  return styleRows(views, fitTable(rows, columns));
}

/** The same under the names of their projects, which come in the order of their sessions. */
export function formatProjects(views: readonly SessionView[], columns: number, nowMs: number): StyledLine[] {
  const groups = new Map<string, SessionView[]>();
  for (const view of views) {
    const { project = "" } = view;
    groups.set(project, [...(groups.get(project) ?? []), view]);
  }
  const [header, ...rows] = formatSessionTable([...groups.values()].flat(), columns, nowMs);
  const lines: StyledLine[] = header === undefined ? [] : [header];
  let at = 0;
  for (const [project, { length }] of groups) {
    const name = project === "" ? "no project" : project;
    const text = `${sanitizeLine(name)}  ${length} ${length === 1 ? "session" : "sessions"}`;
    lines.push({ text: cutToWidth(text, columns), style: "bold" }, ...rows.slice(at, at + length));
    at += length;
  }
  return lines;
}

/** Parents with their children below them; the oldest first. */
export function formatSessionTree(
  views: readonly SessionView[],
  columns: number,
  nowMs: number,
): StyledLine[] {
  const shorts = shortenIds(views.map(({ session_id }) => session_id));
  const nodes = buildTree(views);
  const rows = nodes.map(({ view, branch }) => [
    `${branch}${shorts.get(view.session_id) ?? ""}`,
    ...cells(view, nowMs),
  ]);
  return styleRows(
    nodes.map(({ view }) => view),
    fitTable(rows, columns),
  );
}

/** On a narrow screen names are cut, so that the state two columns later stays visible. */
function fitTable(rows: readonly string[][], columns: number): string[] {
  const all = [HEADER, ...rows];
  const width = (at: number): number => Math.max(...all.map((row) => measureWidth(row[at] ?? "")));
  const gaps = 3 * "  ".length;
  // Two columns for the ellipses of a cut name and a cut line.
  const left = columns - width(0) - width(2) - width(3) - gaps - 2;
  const nameWidth = Math.max(MIN_NAME, Math.min(MAX_NAME, left));
  const cut = rows.map((row) => row.map((cell, at) => (at === 1 ? cutToWidth(cell, nameWidth + 1) : cell)));
  return formatTable([HEADER, ...cut], columns);
}

interface Node {
  view: SessionView;
  branch: string;
  depth: number;
}

/** Sessions whose parent is not listed are roots. */
export function buildTree(views: readonly SessionView[]): Node[] {
  const ids = new Set(views.map(({ session_id }) => session_id));
  const below = new Map<string | undefined, SessionView[]>();
  for (const view of [...views].sort((a, b) => a.started_at_ms - b.started_at_ms)) {
    const parent = view.parent !== undefined && ids.has(view.parent) ? view.parent : undefined;
    below.set(parent, [...(below.get(parent) ?? []), view]);
  }
  const nodes: Node[] = [];
  const seen = new Set<string>();
  const add = (siblings: readonly SessionView[], indent: string, depth: number): void => {
    siblings.forEach((view, at) => {
      const isLast = at === siblings.length - 1;
      seen.add(view.session_id);
      nodes.push({ view, branch: depth === 0 ? "" : `${indent}${isLast ? "└─ " : "├─ "}`, depth });
      const deeper = depth === 0 ? "" : `${indent}${isLast ? "   " : "│  "}`;
      add(below.get(view.session_id) ?? [], deeper, depth + 1);
    });
  };
  add(below.get(undefined) ?? [], "", 0);
  // Sessions in a cycle of parents are listed too.
  for (const view of views) if (!seen.has(view.session_id)) nodes.push({ view, branch: "", depth: 0 });
  return nodes;
}

export function formatSessionSheet(view: SessionView, columns: number, nowMs: number): string[] {
  const { usage, turn, last_result, last_action, cost_usd } = view;
  const agent = [view.provider, ...(view.model === undefined ? [] : [view.model])].join(", ");
  const rows: [string, string | undefined][] = [
    ["session", view.session_id],
    ["name", view.name],
    ["title", view.title],
    ["agent", `${agent}${view.running ? ", running" : ", not running"}`],
    ["cwd", view.cwd],
    ["project", view.project],
    ["labels", view.labels?.join(" ")],
    [
      "archived",
      view.archived_at_ms === undefined ? undefined : `${formatAge(nowMs - view.archived_at_ms)} ago`,
    ],
    ["mode", view.permission_mode],
    ["worktree", view.worktree && `${view.worktree.name}, branch ${view.worktree.branch}`],
    ["state", formatState(view) + (view.attached ? ", owned by a client" : "")],
    [
      "turn",
      turn === undefined ? undefined : `${turn.turn_id}, for ${formatAge(nowMs - turn.started_at_ms)}`,
    ],
    ["last action", last_action === undefined ? undefined : formatAction(last_action)],
    [
      "last result",
      last_result === undefined
        ? undefined
        : `${last_result.subtype}, ${formatAge(nowMs - last_result.ended_at_ms)} ago${
            last_result.error === undefined ? "" : `: ${last_result.error.message}`
          }`,
    ],
    ["last message", last_result?.text],
    ["requests", waitsText(view) === "" ? undefined : waitsText(view)],
    ["queued", view.queued === 0 ? undefined : `${view.queued} (sm queue ${view.session_id})`],
    ["held", view.held],
    ["parent", view.parent],
    ["children", view.children.length === 0 ? undefined : view.children.join(" ")],
    ["turns", String(view.turns)],
    ["tokens", `${usage.input_tokens ?? 0} in, ${usage.output_tokens ?? 0} out`],
    ["context", `${view.context_tokens} tokens`],
    ["cost", cost_usd === undefined ? undefined : formatCost(cost_usd)],
    ...describeBudgets(view),
    ["started", new Date(view.started_at_ms).toISOString()],
    ["active", `${formatAge(nowMs - getActiveMs(view))} ago`],
    ["stopped", view.stopped_at_ms === undefined ? undefined : new Date(view.stopped_at_ms).toISOString()],
    ["last event", String(view.last_seq)],
  ];
  return formatTable(
    rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    columns,
  );
}

/** Those of ancestors with the id to change them by. */
function describeBudgets(view: SessionView): [string, string][] {
  const lines = toBudgetLines(view, (session_id) => session_id);
  return lines.map(({ amounts, bar, notes }, at) => [
    at === 0 ? "budget" : "",
    [`${bar} ${amounts}`, ...notes].join(", "),
  ]);
}

const GLYPHS: Record<Action["status"], string> = {
  running: "▸",
  waiting: "?",
  success: "✓",
  failed: "✗",
  interrupted: "■",
  cancelled: "■",
  timeout: "✗",
};

export function formatAction(action: Action): string {
  const { status, action_kind, not_run, started_at_ms, ended_at_ms, waited_ms = 0 } = action;
  // Declined actions neither succeeded nor failed.
  const glyph = not_run === undefined ? (GLYPHS[status] ?? "·") : GLYPHS.cancelled;
  const text = `${glyph} ${sanitizeLine(action.summary_text)}`;
  // The summary has the outcome; time spent waiting for the user does not count.
  const tookMs = (ended_at_ms ?? started_at_ms) - started_at_ms - waited_ms;
  if (tookMs < 1000) return text;
  return `${text} (${action_kind === "request" ? "waited " : ""}${formatAge(tookMs)})`;
}

export function formatCost(cost: number | undefined): string {
  return cost === undefined ? "-" : formatUsd(cost);
}

/** Its cost, and the limit that is used up most, with a bar. */
function describeCost(view: SessionView): string {
  const tightest = findTightest(view);
  const cost = formatCost(view.cost_usd);
  return tightest === undefined ? cost : `${cost} ${tightest.bar} ${tightest.percent}`;
}

export function isWaiting({ pending_requests }: SessionView): boolean {
  return pending_requests > 0;
}

function cells(view: SessionView, nowMs: number): string[] {
  return [
    sanitizeLine(view.name ?? "-"),
    view.provider,
    formatState(view),
    formatAge(nowMs - view.started_at_ms),
    formatAge(nowMs - getActiveMs(view)),
    formatUsed(view),
    describeCost(view),
    waitsText(view) || "-",
    nameProject(view),
    view.last_action === undefined ? "" : formatAction(view.last_action),
  ];
}

/** Input and output. Every turn uses some, so none means that the agent reported none. */
function formatUsed({ usage: { input_tokens = 0, output_tokens = 0 } }: SessionView): string {
  const tokens = input_tokens + output_tokens;
  return tokens === 0 ? "-" : formatTokens(tokens);
}

/** The last part of its directory. */
function nameProject({ project }: SessionView): string {
  return project?.split("/").at(-1) || "-";
}

function waitsText({ pending_requests: own, family_pending_requests: family }: SessionView): string {
  const below = family - own;
  return [...(own > 0 ? [String(own)] : []), ...(below > 0 ? [`+${below} below`] : [])].join(" ");
}

/** A failed session is idle too; this reports it as failed. */
export function getStateName({ activity_state, failed }: SessionView): FilterState {
  return failed ? "failed" : activity_state;
}

function styleRows(views: readonly SessionView[], [header = "", ...lines]: readonly string[]): StyledLine[] {
  return [
    { text: header, style: "dim" },
    ...lines.map((text, at) => {
      const view = views[at];
      const style = view === undefined ? undefined : pickStyle(view);
      return style === undefined ? { text } : { text, style };
    }),
  ];
}

function pickStyle(view: SessionView): Style | undefined {
  if (isWaiting(view) || view.stalled) return "yellow";
  if (view.failed) return "red";
  return view.activity_state === "stopped" ? "dim" : undefined;
}
