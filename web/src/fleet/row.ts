// One row of the list. Names, titles and actions are untrusted: shown as text on one line, with bidi controls visible.
import { html, nothing, type TemplateResult } from "lit";
import { revealLine, sanitizeLine } from "../../../src/base/sanitize.ts";
import { findTightest } from "../../../src/client/view/budget.ts";
import { formatAge, formatCost, formatTokens, getSessionName } from "../../../src/client/view/format.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import type { App } from "../app-types.ts";
import { icon } from "../icons.ts";
import type { RowItem } from "./rows.ts";
import { getLook, stateBadge } from "./state-badge.ts";

/** More are in the session itself. */
const MAX_LABELS = 3;

export interface RowContext {
  app: App;
  /** Title of the oldest request, by session. */
  asked: ReadonlyMap<string, string>;
  chosen: string | undefined;
  cursor: string | undefined;
  /** Its request is shown below the list. */
  peeked: string | undefined;
  toggle(session_id: string): void;
}

export function fleetRow(item: RowItem, context: RowContext): TemplateResult {
  const { session, depth } = item.row;
  const { session_id, usage, cost_usd, pending_requests } = session;
  const name = getName(session);
  const isChosen = session_id === context.chosen;
  const age = formatAge(Math.max(0, context.app.now() - session.last_active_at_ms));
  const asked = context.asked.get(session_id);
  const toggle = (event: Event): void => {
    event.preventDefault();
    event.stopPropagation();
    context.toggle(session_id);
  };
  return html`<a
    class="fleet-row ${isChosen ? "is-chosen" : ""} ${session_id === context.peeked ? "is-peeked" : ""} ${session_id === context.cursor ? "is-cursor" : ""} ${
      asked === undefined ? "" : "is-waiting"
    }"
    id="row-${session_id}"
    role="treeitem"
    tabindex="-1"
    href=${context.app.href({ name: "session", session_id })}
    data-depth=${Math.min(depth, 6)}
    aria-level=${depth + 1}
    aria-posinset=${item.place.at}
    aria-setsize=${item.place.of}
    aria-expanded=${item.children === 0 ? nothing : String(!item.isFolded)}
    aria-selected=${String(isChosen)}
    aria-current=${isChosen ? "page" : nothing}
    aria-label="${name}, ${getLook(session).word}, ${session.provider}, ${age}"
  >
    <span class="fleet-state">${stateBadge(session)}</span>
    <span class="fleet-name">
      ${
        item.children === 0
          ? nothing
          : html`<span class="fleet-fold ${item.isFolded ? "is-folded" : ""}" @click=${toggle}>${icon("fold")}</span>`
      }
      <span class="cut" title=${name}>${name}</span>
      ${(session.labels ?? []).slice(0, MAX_LABELS).map((label) => html`<span class="label">${label}</span>`)}
      ${item.isFolded ? html`<span class="faint fleet-more">+${item.children}</span>` : nothing}
      ${pending_requests > 1 ? html`<span class="count">${pending_requests}</span>` : nothing}
    </span>
    <span class="fleet-action cut">${describeAction(session, asked)}</span>
    <span class="fleet-agent cut">${sanitizeLine(session.provider)}</span>
    <span class="fleet-tokens number">${formatTokens((usage.input_tokens ?? 0) + (usage.output_tokens ?? 0))}</span>
    <span class="fleet-cost number">${cost_usd === undefined ? "" : formatCost(cost_usd)}${budgetMeter(session)}</span>
    <span class="fleet-age number">${age}</span>
  </a>`;
}

/** The limit that is used up most. */
function budgetMeter(session: SessionView): TemplateResult | typeof nothing {
  const tightest = findTightest(session);
  if (tightest === undefined) return nothing;
  const text = [tightest.amounts, ...tightest.notes].join(", ");
  return html`<meter class="budget" low="0.8" high="0.999" optimum="0" value=${tightest.share} title=${text} aria-label="Budget: ${text}"></meter>`;
}

function getName(session: SessionView): string {
  return sanitizeLine(getSessionName(session));
}

function describeAction(session: SessionView, asked: string | undefined): string {
  if (asked !== undefined) return revealLine(asked);
  const { last_action, last_result } = session;
  if (last_result?.error !== undefined && session.turn === undefined)
    return sanitizeLine(last_result.error.message);
  return sanitizeLine(last_action?.summary_text ?? last_result?.text ?? "");
}
