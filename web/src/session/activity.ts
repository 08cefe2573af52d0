// What the agent does right now, in one line above the composer. Nothing while no turn runs, or while it waits for a
// person: then the request says so.
import { html, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { describeActivity } from "../../../src/client/view/activity.ts";
import { formatDuration } from "../../../src/client/view/format.ts";
import type { View } from "../../../src/client/view/types.ts";

export function activityLine(view: View, nowMs: number): TemplateResult | typeof nothing {
  const doing = describeActivity(view);
  if (doing === undefined) return nothing;
  const { words, what, since_ms } = doing;
  return html`<p class="activity">
    <span class="spinner" aria-hidden="true"></span>
    <span>${words}</span>
    ${what === undefined ? nothing : html`<span class="activity-what cut">${sanitizeLine(what)}</span>`}
    ${since_ms === undefined ? nothing : html`<span class="number faint">${formatDuration(Math.max(0, nowMs - since_ms))}</span>`}
  </p>`;
}
