// The two pages about usage: activity of the last days in detail, and the sums of any range.
import { html, type TemplateResult } from "lit";
import type { App } from "../app-types.ts";

export function usageTabs(app: App, shown: "stats" | "usage", session_id?: string): TemplateResult {
  const tab = (name: "stats" | "usage", label: string): TemplateResult =>
    html`<a
      class="session-tab"
      href=${app.href(session_id === undefined ? { name } : { name, session_id })}
      aria-current=${name === shown ? "page" : "false"}
      >${label}</a
    >`;
  return html`<nav class="usage-tabs" aria-label="Views of usage">${tab("stats", "Activity")} ${tab("usage", "Totals")}</nav>`;
}
