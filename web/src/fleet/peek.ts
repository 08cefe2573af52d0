// The request of the row that the cursor is on, below the list: it is answered without opening the session.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { App } from "../app-types.ts";
import type { Item } from "./rows.ts";

/** The oldest request of the row at the cursor; without one, that of the first row that is waiting. */
export function findPeeked(
  { requests }: Fleet,
  items: readonly Item[],
  cursor: string | undefined,
  answered: ReadonlySet<string>,
): RequestRow | undefined {
  const oldest = indexOldest(requests.values(), answered);
  if (cursor !== undefined) return oldest.get(cursor);
  const id = listWaiting(items, oldest)[0];
  return id === undefined ? undefined : oldest.get(id);
}

/** The next row with a request after the cursor, then from the start. */
export function findNextWaiting(
  { requests }: Fleet,
  items: readonly Item[],
  cursor: string | undefined,
  answered: ReadonlySet<string>,
): string | undefined {
  const waiting = listWaiting(items, indexOldest(requests.values(), answered));
  const order = items.flatMap((item) => (item.kind === "row" ? [item.row.session.session_id] : []));
  const at = cursor === undefined ? -1 : order.indexOf(cursor);
  return waiting.find((id) => order.indexOf(id) > at) ?? waiting[0];
}

export function peekView(app: App, request: RequestRow | undefined): TemplateResult | typeof nothing {
  if (request === undefined) return nothing;
  return html`<div class="requests fleet-peek" role="region" aria-label="Request of the selected session">
    ${keyed(request.request_id, html`<x-request .app=${app} .request=${request}></x-request>`)}
  </div>`;
}

function listWaiting(items: readonly Item[], oldest: ReadonlyMap<string, RequestRow>): string[] {
  return items.flatMap((item) =>
    item.kind === "row" && oldest.has(item.row.session.session_id) ? [item.row.session.session_id] : [],
  );
}

/** By session. `answered`: of this page, a moment before the daemon reports it. */
function indexOldest(requests: Iterable<RequestRow>, answered: ReadonlySet<string>): Map<string, RequestRow> {
  const found = new Map<string, RequestRow>();
  for (const row of requests)
    if (!answered.has(row.request_id) && !found.has(row.session_id)) found.set(row.session_id, row);
  return found;
}
