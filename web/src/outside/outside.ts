// <x-outside>: sessions that were started outside, in the agents' own programs: a list, and one of them to read and to
// continue as a session.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { defined } from "../../../src/base/values.ts";
import type { TranscriptView } from "../../../src/client/http/types.ts";
import { formatAge } from "../../../src/client/view/format.ts";
import type { App } from "../app-types.ts";
import "./conversation.ts";

const PAGE = 100;

class OutsideElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    agent: { attribute: false },
    atSeq: { attribute: false },
    found: { state: true },
    next: { state: true },
    search: { state: true },
    trouble: { state: true },
  };
  declare app: App | undefined;
  /** The conversation to read; without one the list is shown. */
  declare sessionId: string | undefined;
  declare agent: string | undefined;
  declare atSeq: number | undefined;
  declare found: readonly TranscriptView[] | undefined;
  declare next: string | undefined;
  declare search: string;
  declare trouble: string;

  constructor() {
    super();
    this.search = "";
    this.trouble = "";
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
  }

  protected override willUpdate(changed: PropertyValues): void {
    const isList = this.sessionId === undefined;
    if (isList && this.found === undefined && (changed.has("app") || changed.has("sessionId")))
      void this.#read();
  }

  async #read(after?: string): Promise<void> {
    if (this.app === undefined) return;
    try {
      const page = await this.app.api.transcripts({ limit: PAGE, ...defined({ after }) });
      this.found = [...(this.found ?? []), ...page.transcripts];
      this.next = page.next;
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, sessionId, agent, atSeq, found, trouble } = this;
    if (app === undefined) return nothing;
    if (sessionId !== undefined)
      return html`${keyed(
        `${sessionId} ${atSeq ?? ""}`,
        html`<x-conversation .app=${app} .sessionId=${sessionId} .agent=${agent} .atSeq=${atSeq}></x-conversation>`,
      )}`;
    return html`<header class="page-head">
        <h1>Started outside</h1>
        <label class="outside-search">
          <span class="visually-hidden">Filter</span>
          <input
            type="search"
            placeholder="Filter by title, project or agent"
            .value=${this.search}
            @input=${(event: Event) => {
              this.search = (event.currentTarget as HTMLInputElement).value;
            }}
          />
        </label>
      </header>
      <p class="faint outside-about">Conversations that the agents’ own programs keep on this machine. Open one to read it, and continue it here with its history.</p>
      ${trouble === "" ? nothing : html`<p class="error-text" role="alert">Could not load them: ${trouble}</p>`}
      ${found === undefined ? (trouble === "" ? html`<p class="empty"><span class="spinner"></span></p>` : nothing) : this.#list(app, found)}`;
  }

  #list(app: App, found: readonly TranscriptView[]): TemplateResult {
    const shown = found.filter((one) => hasWords(one, this.search));
    if (found.length === 0)
      return html`<p class="empty">
        No conversation was started outside. Those of agents that you run in a terminal appear here; to start one here, use
        <a href=${app.href({ name: "new" })}>New</a>.
      </p>`;
    return html`${shown.length === 0 ? html`<p class="empty">None of those loaded fits “${this.search}”.</p>` : nothing}
      <ul class="outside-list">
        ${shown.map((one) => this.#row(app, one))}
      </ul>
      ${
        this.next === undefined
          ? nothing
          : html`<button type="button" class="quiet" @click=${() => void this.#read(this.next)}>Show more</button>`
      }`;
  }

  #row(
    app: App,
    { session_id, title, provider, backend, project, last_active_at_ms, open_in_pid }: TranscriptView,
  ): TemplateResult {
    return html`<li>
      <a class="outside-row" href=${app.href({ name: "outside", session_id, agent: backend })}>
        <span class="outside-title cut">${sanitizeLine(title ?? session_id)}</span>
        <span class="outside-age number">${formatAge(Math.max(0, app.now() - last_active_at_ms))}</span>
        <span class="outside-about cut"
          >${sanitizeLine(provider)}${project === undefined ? nothing : html` in ${sanitizeLine(project)}`}${open_in_pid === undefined ? nothing : html`, open in process ${open_in_pid}`}</span
        >
      </a>
    </li>`;
  }
}

function hasWords({ title, provider, project, cwd, session_id }: TranscriptView, search: string): boolean {
  const text = [title, provider, project, cwd, session_id].filter(Boolean).join("\n").toLocaleLowerCase();
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

if (customElements.get("x-outside") === undefined) customElements.define("x-outside", OutsideElement);
