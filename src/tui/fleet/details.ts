// Details of the selected session, shown beside the list on wide terminals. Pure.
import { toBudgetLines } from "../../client/view/budget.ts";
import type { Fleet } from "../../client/view/fleet.ts";
import { formatAge, formatCost, formatTokens } from "../../client/view/format.ts";
import type { SessionView } from "../../client/view/types.ts";
import { formatName } from "../notify/fleet-notifications.ts";
import { drawRevealed, toSafeLine, toSafeText } from "../rows/safe.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import { cutLine, wrapWords } from "../rows/wrap.ts";
import { getSign } from "./signs.ts";

const LABEL = 9;
const MAX_RESULT_ROWS = 12;

export function drawDetails(session: SessionView, fleet: Fleet, width: number, nowMs: number): Line[] {
  const { sign, word, style } = getSign(session);
  const { turn, usage, last_action, last_result, project } = session;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["agent", [session.provider, session.model].filter(Boolean).join(", ")],
    ["project", project === session.cwd ? undefined : project],
    ["dir", session.cwd],
    ["labels", session.labels?.map((label) => `#${label}`).join(" ")],
    ["archived", formatSince(session.archived_at_ms, nowMs)],
    ["id", session.session_id],
    ["turn", turn === undefined ? undefined : `running for ${formatAge(nowMs - turn.started_at_ms)}`],
    ["turns", String(session.turns)],
    ["tokens", `${formatTokens(usage.input_tokens ?? 0)} in, ${formatTokens(usage.output_tokens ?? 0)} out`],
    ["context", session.context_tokens === 0 ? undefined : formatTokens(session.context_tokens)],
    ["cost", session.cost_usd === undefined ? undefined : formatCost(session.cost_usd)],
    ...toBudgetLines(session, (id) => nameById(id, fleet)).map(
      ({ amounts, bar, notes }, at) =>
        [at === 0 ? "budget" : "", [`${bar} ${amounts}`, ...notes].join(", ")] as const,
    ),
    ["queue", session.queued === 0 ? undefined : `${session.queued} waiting`],
    ["held", session.held],
    ["parent", session.parent === undefined ? undefined : nameById(session.parent, fleet)],
    ["children", session.children.length === 0 ? undefined : String(session.children.length)],
    ["started", formatSince(session.started_at_ms, nowMs)],
    ["last", last_action?.summary_text],
  ];
  return [
    cutLine([createPiece(toSafeLine(formatName(session)), STYLE.bold)], width),
    [createPiece(`${sign} ${word}`, style)],
    [],
    ...requestLines(session, fleet, width),
    ...facts.flatMap(([label, value]) => (value === undefined ? [] : factLines(label, value, width))),
    ...(last_result === undefined ? [] : resultLines(last_result, width)),
  ];
}

/** The titles of its pending requests, if there are several: the first one is shown below the list. */
function requestLines({ session_id }: SessionView, fleet: Fleet, width: number): Line[] {
  const own = [...fleet.requests.values()].filter((request) => request.session_id === session_id);
  if (own.length < 2) return [];
  const titles = own.map(({ payload }) => {
    const [first = ""] = payload.title.split("\n");
    return cutLine([createPiece("? ", STYLE.warn), ...drawRevealed(first, STYLE.warn, false)], width);
  });
  return [[createPiece("Pending requests:", STYLE.bold)], ...titles, []];
}

function formatSince(at_ms: number | undefined, nowMs: number): string | undefined {
  return at_ms === undefined ? undefined : `${formatAge(nowMs - at_ms)} ago`;
}

function factLines(label: string, value: string, width: number): Line[] {
  const rows = wrapWords([createPiece(toSafeLine(value))], Math.max(8, width - LABEL)).slice(0, 3);
  return rows.map((row, at) => [createPiece((at === 0 ? label : "").padEnd(LABEL), STYLE.dim), ...row]);
}

function resultLines(
  { subtype, text = "", error }: NonNullable<SessionView["last_result"]>,
  width: number,
): Line[] {
  const isGood = subtype === "success";
  const head = isGood
    ? createPiece("✓ last turn succeeded", STYLE.good)
    : createPiece(`✗ last turn: ${toSafeLine(subtype)}`, STYLE.bad);
  const said = error === undefined ? text : error.message;
  const rows = toSafeText(said.slice(-2_000))
    .split("\n")
    .flatMap((line) => wrapWords([createPiece(line.replaceAll("\t", "  "))], width));
  return [[], [head], ...rows.slice(0, MAX_RESULT_ROWS)];
}

function nameById(session_id: string, { sessions }: Fleet): string {
  const session = sessions.get(session_id);
  return session === undefined ? session_id : formatName(session);
}
