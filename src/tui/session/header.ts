// The header: name, state, agent, usage and connection.

import { type BudgetLevel, findTightest } from "../../client/view/budget.ts";
import {
  computeTurnMs,
  findShownState,
  formatCost,
  formatTokens,
  nameState,
} from "../../client/view/format.ts";
import { formatQuotaLine, formatUntil } from "../../client/view/quota-text.ts";
import type { View } from "../../client/view/types.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Piece, STYLE } from "../rows/style.ts";
import { findLook } from "../state-looks.ts";
import { joinParts, spread } from "../theme.ts";
import { getWaiting, isTurnRunning } from "./state.ts";
import type { SessionUi } from "./ui-types.ts";

const BUDGET_STYLES: Record<BudgetLevel, string> = { good: STYLE.dim, warn: STYLE.warn, bad: STYLE.bad };

export interface HeaderOptions {
  title: string;
  settings: readonly string[];
  columns: number;
  rows: number;
}

export function drawSessionHeader(
  ui: SessionUi,
  { title, settings, columns, rows }: HeaderOptions,
): Piece[][] {
  const { view } = ui;
  const state = describeState(ui);
  const { sign, style } = findLook(state);
  const who = view.session?.name ?? view.session?.title ?? title;
  const first: Piece[] = [
    createPiece(`${sign} ${toSafeLine(nameSituation(state, ui))}`, style),
    createPiece("  "),
    createPiece(toSafeLine(who), STYLE.bold),
  ];
  const figures = joinParts(formatFigures(ui, settings), columns - 2);
  const link = describeLink(view, columns);
  if (rows < 2) {
    const room = Math.floor(columns / 3);
    return [spread(first, link ?? joinParts(formatFigures(ui, []), room), columns)];
  }
  const agent = joinParts(describeAgent(view), Math.max(0, columns - 30));
  return [spread(first, agent, columns), spread([createPiece("  "), ...figures], link ?? [], columns)];
}

/** Also until when it waits. */
function nameSituation(state: string, ui: SessionUi): string {
  const wait = state === "waiting_quota" ? ui.view.session?.quota_wait : undefined;
  return wait === undefined ? nameState(state) : formatUntil(wait, ui.now_ms);
}

function describeState(ui: SessionUi): string {
  const { session } = ui.view;
  const [request] = getWaiting(ui);
  // An answered request is not waited for, although the session still says so.
  if (session !== undefined)
    return findShownState({ ...session, pending_requests: request === undefined ? 0 : 1 });
  if (request !== undefined) {
    return request.payload.questions === undefined ? "waiting_permission" : "waiting_input";
  }
  if (isTurnRunning(ui)) return "working";
  return ui.view.link.state === "live" ? "idle" : "connecting";
}

function describeAgent({ session, agent }: View): Piece[] {
  const backend = session?.backend ?? agent.backend;
  const model = session?.model ?? agent.model;
  return [backend, model].flatMap((word) => (word ? [createPiece(toSafeLine(word), STYLE.dim)] : []));
}

function formatFigures(ui: SessionUi, settings: readonly string[]): (Piece | undefined)[] {
  const { session, queue, turn, agent } = ui.view;
  const started = session?.turn?.started_at_ms ?? turn?.started_at_ms;
  const dim = (text: string): Piece => createPiece(text, STYLE.dim);
  const elapsed =
    isTurnRunning(ui) && started !== undefined
      ? formatClock(computeTurnMs(started, turn, ui.now_ms))
      : undefined;
  const mode = session?.permission_mode;
  const budget = session === undefined ? undefined : findTightest(session);
  const usage = session?.usage;
  const tokens = usage === undefined ? 0 : (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
  const context = session?.context_tokens ?? 0;
  const share = agent.context_window ? Math.round((100 * context) / agent.context_window) : undefined;
  return [
    elapsed === undefined ? undefined : createPiece(`turn ${elapsed}`, STYLE.good),
    session?.stalled ? createPiece("no event for long", STYLE.warn) : undefined,
    queue.length === 0 ? undefined : createPiece(`queue ${queue.length}`, STYLE.warn),
    tokens === 0 ? undefined : dim(`${formatTokens(tokens)} tokens`),
    share === undefined || context === 0 ? undefined : dim(`context ${share}%`),
    session?.cost_usd === undefined ? undefined : dim(formatCost(session.cost_usd)),
    ...formatQuotaLine(session?.quota ?? [], ui.now_ms).map((word) => dim(toSafeLine(word))),
    mode === undefined || mode === "default" ? undefined : dim(`mode ${toSafeLine(mode)}`),
    budget === undefined
      ? undefined
      : createPiece(`budget ${budget.amounts} ${budget.bar}`, BUDGET_STYLES[budget.level]),
    ...settings.map((word) => dim(toSafeLine(word))),
    session?.held === undefined ? undefined : createPiece(`held: ${toSafeLine(session.held)}`, STYLE.warn),
    session?.cwd === undefined ? undefined : dim(toSafeLine(session.cwd)),
  ];
}

function describeLink({ link, closed }: View, columns: number): Piece[] | undefined {
  if (closed !== undefined) return [createPiece(`closed: ${toSafeLine(closed)}`, STYLE.warn)];
  if (link.state === "live") return undefined;
  if (link.state === "connecting") return [createPiece("connecting …", STYLE.dim)];
  const words = columns < 76 ? "! lost" : "! connection lost, reconnecting…";
  return [createPiece(words, `1;${STYLE.warn}`)];
}

/** "0:07", "12:30", "1:02:03". */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${String(seconds % 60).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
