// The facts of a session in one row.
import { html, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { toBudgetLines } from "../../../src/client/view/budget.ts";
import {
  computeTurnMs,
  formatCost,
  formatDuration,
  formatState,
  formatTokens,
} from "../../../src/client/view/format.ts";
import { formatQuotaLine } from "../../../src/client/view/quota-text.ts";
import type { View } from "../../../src/client/view/types.ts";

export interface Fact {
  name: string;
  label: string;
  text: string;
}

export function panel(view: View, nowMs: number): TemplateResult {
  return html`<dl class="panel">
    ${listFacts(view, nowMs).map(
      ({ name, label, text }) =>
        html`<div class="fact" data-fact=${name}><dt>${label}</dt><dd title=${text}>${text}</dd></div>`,
    )}
  </dl>`;
}

/** Unknown facts are omitted. */
export function listFacts({ session, agent, queue, turn }: View, nowMs: number): Fact[] {
  if (session === undefined) return [];
  const model = session.model ?? agent.model;
  const { input_tokens: taken = 0, output_tokens: given = 0 } = session.usage;
  const startedMs = session.turn?.started_at_ms ?? turn?.started_at_ms;
  const facts: (Fact | undefined)[] = [
    { name: "state", label: "State", text: formatState(session) },
    startedMs === undefined || session.turn === undefined
      ? fact("turn", "Turns", session.turns === 0 ? undefined : String(session.turns))
      : fact("turn", "Turn", formatDuration(computeTurnMs(startedMs, turn, nowMs))),
    fact("model", "Model", model),
    fact(
      "tokens",
      "Tokens",
      taken + given === 0 ? undefined : `${formatTokens(taken)} in, ${formatTokens(given)} out`,
    ),
    fact("context", "Context", contextText(session.context_tokens, agent.context_window)),
    fact("quota", "Limits", formatQuotaLine(session.quota ?? [], nowMs).join(", ") || undefined),
    fact("cost", "Cost", session.cost_usd === undefined ? undefined : formatCost(session.cost_usd)),
    ...toBudgetLines(session, (id) => id.slice(0, 8)).map(({ bar, amounts, notes }) =>
      fact("budget", "Budget", [`${bar} ${amounts}`, ...notes].join(", ")),
    ),
    fact(
      "queue",
      "Queue",
      queue.length === 0
        ? undefined
        : `${queue.length}${session.held === undefined ? "" : `, held: ${session.held}`}`,
    ),
    fact("cwd", "Directory", session.cwd ?? agent.cwd),
  ];
  return facts.filter((each) => each !== undefined);
}

function fact(name: string, label: string, text: string | undefined): Fact | undefined {
  return text === undefined ? undefined : { name, label, text: sanitizeLine(text) };
}

function contextText(tokens: number, window: number | undefined): string | undefined {
  if (tokens === 0) return undefined;
  if (window === undefined || window === 0) return formatTokens(tokens);
  return `${formatTokens(tokens)} of ${formatTokens(window)} (${Math.round((100 * tokens) / window)}%)`;
}
