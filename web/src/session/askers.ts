// The head of a card: the session that asks, or the sessions that ask for exactly the same.
import { html, nothing, type TemplateResult } from "lit";
import { revealLine } from "../../../src/base/sanitize.ts";
import type { RequestCard } from "../../../src/client/view/request-card.ts";

/** More names are folded. */
const MAX_NAMES = 4;

/** "NAME (AGENT) in PROJECT asks to run a command", "A, B and 3 others (AGENT) in PROJECT ask to …". */
export function askersView({ who, others, asks }: RequestCard): TemplateResult {
  const { agent, project } = who;
  const names = [who, ...others].map(({ name }) => name);
  const shown = names.length > MAX_NAMES ? names.slice(0, MAX_NAMES - 1) : names;
  const rest = names.length - shown.length;
  const by =
    who.name === undefined
      ? html`<b>${revealLine(agent)}</b>`
      : html`${shown.map(
          (name, at) => html`${joint(at, names.length)}<b>${revealLine(name ?? agent)}</b>`,
        )}${rest === 0 ? nothing : html` and <b>${rest} others</b>`} (${revealLine(agent)})`;
  return html`${by}${project === undefined ? nothing : html` in <b>${revealLine(project)}</b>`} ${asks}`;
}

/** All of them, if the head has only some. */
export function allAskersView({ who, others }: RequestCard): TemplateResult | typeof nothing {
  if (others.length < MAX_NAMES) return nothing;
  const names = [who, ...others].map(({ name, agent }) => revealLine(name ?? agent));
  return html`<p class="card-words">all ${names.length}: ${names.join(", ")}</p>`;
}

function joint(at: number, count: number): string {
  if (at === 0) return "";
  return at === count - 1 ? " and " : ", ";
}
