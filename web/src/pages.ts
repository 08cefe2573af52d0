// The pages beside the list. All but the session are loaded when they are opened first.
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import type { App, Route } from "./app-types.ts";

const LOADERS: Partial<Record<Route["name"], () => Promise<unknown>>> = {
  search: () => import("./search/search.ts"),
  inbox: () => import("./inbox/inbox.ts"),
  stats: () => import("./charts/stats.ts"),
  usage: () => import("./charts/usage.ts"),
  outside: () => import("./outside/outside.ts"),
  daemon: () => import("./daemon/daemon.ts"),
  new: () => import("./spawn/spawn.ts"),
  help: () => import("./help/help.ts"),
};

/** Loads the code of the page, once. */
export async function loadPage(app: App, { name }: Route): Promise<void> {
  try {
    await LOADERS[name]?.();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    app.notify("error", `Could not load the page (${why}). Reload it.`);
  }
}

/** On the home page the session list uses the full width. */
export function pageView(app: App, route: Route): TemplateResult | typeof nothing {
  switch (route.name) {
    case "session":
      return html`${keyed(
        `${route.session_id} ${route.at_seq ?? ""}`,
        html`<x-session class="session" .app=${app} .sessionId=${route.session_id} .view=${route.view} .atSeq=${route.at_seq}></x-session>`,
      )}`;
    case "search":
      return html`<x-search .app=${app} .text=${route.text}></x-search>`;
    case "inbox":
      return html`<x-inbox .app=${app} .chosen=${route.request_id}></x-inbox>`;
    case "stats":
      return html`<x-stats .app=${app} .sessionId=${route.session_id}></x-stats>`;
    case "usage":
      return html`<x-usage .app=${app} .sessionId=${route.session_id}></x-usage>`;
    case "outside":
      return html`<x-outside .app=${app} .sessionId=${route.session_id} .agent=${route.agent} .atSeq=${route.at_seq}></x-outside>`;
    case "daemon":
      return html`<x-daemon .app=${app}></x-daemon>`;
    case "new":
      return html`<x-spawn .app=${app}></x-spawn>`;
    case "help":
      return html`<x-help .app=${app}></x-help>`;
    default:
      return nothing;
  }
}
