// The header: name, state, agent, usage and connection.

import { computeTurnMs, formatCost, formatTokens } from "../../client/view/format.ts";
import type { View } from "../../client/view/types.ts";
import { toSafeLine } from "../rows/safe.ts";
import { combineStyles, createPiece, type Piece, STYLE } from "../rows/style.ts";
import { STATE_LOOKS, type StateLook } from "../state-looks.ts";
import { joinParts, spread } from "../theme.ts";
import { getWaiting, isTurnRunning } from "./state.ts";
import type { SessionUi } from "./ui-types.ts";

/** For unknown states: before the first event, or from a newer daemon. */
const UNKNOWN: StateLook = { sign: "·", style: STYLE.dim };
const FAILED: StateLook = { sign: "✗", style: STYLE.bad };

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
  const look =
    state === "failed" ? FAILED : ((STATE_LOOKS as Partial<Record<string, StateLook>>)[state] ?? UNKNOWN);
  const isWaiting = state === "waiting_input" || state === "waiting_permission";
  const who = view.session?.name ?? view.session?.title ?? title;
  const first: Piece[] = [
    // As the API names it (docs/ui.md).
    createPiece(
      `${look.sign} ${toSafeLine(state)}`,
      isWaiting ? combineStyles(STYLE.bold, look.style) : look.style,
    ),
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

function describeState(ui: SessionUi): string {
  const { session } = ui.view;
  const [request] = getWaiting(ui);
  if (session !== undefined)
    return session.failed && request === undefined ? "failed" : session.activity_state;
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
  const usage = session?.usage;
  const tokens = usage === undefined ? 0 : (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
  const context = session?.context_tokens ?? 0;
  const share = agent.context_window ? Math.round((100 * context) / agent.context_window) : undefined;
  return [
    elapsed === undefined ? undefined : createPiece(`turn ${elapsed}`, STYLE.good),
    session?.stalled ? createPiece("stalled: no event for long", STYLE.warn) : undefined,
    queue.length === 0 ? undefined : createPiece(`queue ${queue.length}`, STYLE.warn),
    tokens === 0 ? undefined : dim(`${formatTokens(tokens)} tokens`),
    share === undefined || context === 0 ? undefined : dim(`context ${share}%`),
    session?.cost_usd === undefined ? undefined : dim(formatCost(session.cost_usd)),
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
