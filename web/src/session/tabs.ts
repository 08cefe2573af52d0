// The tabs of a session: the conversation and the changes, which are read when the session is opened and after each turn.
import { html, nothing, type TemplateResult } from "lit";
import type { HttpApi } from "../../../src/client/http/api.ts";
import { ChangesSource } from "../../../src/client/view/change-source.ts";
import type { SessionView } from "../../../src/client/view/types.ts";
import type { App } from "../app-types.ts";

export class SessionChanges {
  readonly source: ChangesSource;
  /** When it was last read. A short turn may begin and end between two updates. */
  #seen: { turns: number; isWorking: boolean } | undefined;
  #count: number | undefined;
  readonly #recount: () => void;

  constructor(api: HttpApi, session_id: string, onChange: () => void) {
    this.#recount = () => {
      const keep = ({ totals }: { totals: { files: number } }): void => {
        this.#count = totals.files;
        onChange();
      };
      // Without it the number is that of the turn before.
      api.sessionChanges(session_id, { limit: 1 }).then(keep, () => undefined);
    };
    const port = {
      list: (query: Parameters<HttpApi["sessionChanges"]>[1]) => api.sessionChanges(session_id, query),
      file: (query: Parameters<HttpApi["fileChanges"]>[1]) => api.fileChanges(session_id, query),
      undo: (order: Parameters<HttpApi["undo"]>[1]) => api.undo(session_id, order),
    };
    this.source = new ChangesSource(port, () => {
      const { reply, turn } = this.source.state;
      if (turn === undefined && reply !== undefined) this.#count = reply.totals.files;
      onChange();
    });
  }

  /** Files that the session changed, once known. */
  get count(): number | undefined {
    return this.#count;
  }

  /** Called with every update of the session. */
  follow(session: SessionView | undefined): void {
    if (session === undefined) return;
    const { turns } = session;
    const isWorking = session.turn !== undefined;
    const before = this.#seen;
    this.#seen = { turns, isWorking };
    if (before === undefined) void this.source.refresh();
    else if (before.turns === turns && (isWorking || !before.isWorking)) return;
    // The end of a turn has a checkpoint before the next one starts.
    else if (isWorking) void this.source.refresh();
    else
      void this.source.refreshAfterTurn().then(() => this.source.state.turn !== undefined && this.#recount());
  }

  close(): void {
    this.source.close();
  }
}

export function sessionTabs(
  app: App,
  session_id: string,
  isChanges: boolean,
  count: number | undefined,
  more: unknown,
): TemplateResult {
  const tab = (label: unknown, isThis: boolean, view?: "changes"): TemplateResult =>
    html`<a class="session-tab" href=${app.href({ name: "session", session_id, ...(view === undefined ? {} : { view }) })} aria-current=${isThis ? "page" : "false"}>${label}</a>`;
  const counted = html`Changes${count === undefined || count === 0 ? nothing : html` <span class="tab-count" title="changed files">${count}</span>`}`;
  return html`<nav class="session-tabs" aria-label="Views of the session">
    ${tab("Conversation", !isChanges)} ${tab(counted, isChanges, "changes")} ${more}
  </nav>`;
}
