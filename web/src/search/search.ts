// <x-search>: what was said or done in any session. Searches while the user types; a hit opens its session at its place.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { defined } from "../../../src/base/values.ts";
import type { SearchHit } from "../../../src/client/http/types.ts";
import { formatAge } from "../../../src/client/view/format.ts";
import { ROLE_NAMES, splitBySession, splitMarks } from "../../../src/client/view/search-hits.ts";
import type { App, Route } from "../app-types.ts";

const PAGE = 40;
/** A pause in typing. */
const PAUSE_MS = 150;

class SearchElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    text: { attribute: false },
    words: { state: true },
    hits: { state: true },
    next: { state: true },
    unindexed: { state: true },
    trouble: { state: true },
  };
  declare app: App | undefined;
  /** From the address. */
  declare text: string | undefined;
  declare words: string;
  /** Undefined before the first reply. */
  declare hits: readonly SearchHit[] | undefined;
  declare next: string | undefined;
  declare unindexed: number;
  declare trouble: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #search: AbortController | undefined;

  constructor() {
    super();
    this.words = "";
    this.unindexed = 0;
    this.trouble = "";
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#search?.abort();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("text") || (this.text ?? "") === this.words) return;
    this.words = this.text ?? "";
    void this.#read();
  }

  protected override firstUpdated(): void {
    this.querySelector("input")?.focus();
  }

  readonly #onInput = (event: Event): void => {
    this.words = (event.currentTarget as HTMLInputElement).value;
    // Reloading the page, or coming back from a hit, finds it again.
    if (this.app !== undefined)
      history.replaceState(
        history.state,
        "",
        this.app.href({ name: "search", ...defined({ text: this.words || undefined }) }),
      );
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), PAUSE_MS);
  };

  /** Only the newest search counts. */
  async #read(after?: string): Promise<void> {
    this.#search?.abort();
    const search = new AbortController();
    this.#search = search;
    const q = this.words.trim();
    if (this.app === undefined || q === "") {
      this.hits = undefined;
      this.next = undefined;
      this.trouble = "";
      return;
    }
    try {
      const reply = await this.app.api.search({ q, limit: PAGE, ...defined({ after }) }, search.signal);
      if (search.signal.aborted) return;
      this.hits = after === undefined ? reply.hits : [...(this.hits ?? []), ...reply.hits];
      this.next = reply.next;
      this.unindexed = reply.unindexed ?? 0;
      this.trouble = "";
    } catch (error) {
      if (!search.signal.aborted) this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, hits, trouble, unindexed } = this;
    if (app === undefined) return nothing;
    return html`<header class="page-head">
        <h1>Search</h1>
        <label class="found-search">
          <span class="visually-hidden">Words to find</span>
          <input type="search" placeholder="What was said or done in any session" .value=${this.words} @input=${this.#onInput} />
        </label>
      </header>
      <p class="faint found-about" role="status">
        ${hits === undefined ? "Words match as parts of words; “several words” in double quotes as a phrase." : `${hits.length}${this.next === undefined ? "" : "+"} ${hits.length === 1 ? "hit" : "hits"}`}${unindexed > 0 ? `; ${unindexed} ${unindexed === 1 ? "session is" : "sessions are"} still being indexed` : ""}
      </p>
      ${trouble === "" ? nothing : html`<p class="error-text" role="alert">${trouble}</p>`}
      ${hits === undefined || trouble !== "" ? nothing : this.#list(app, hits)}`;
  }

  #list(app: App, hits: readonly SearchHit[]): TemplateResult {
    return html`${
      hits.length === 0 ? html`<p class="empty">Nothing found for “${this.words.trim()}”.</p>` : nothing
    }
      ${splitBySession(hits).map((own) => this.#session(app, own))}
      ${
        this.next === undefined
          ? nothing
          : html`<button type="button" class="quiet" @click=${() => void this.#read(this.next)}>Show more</button>`
      }`;
  }

  #session(app: App, hits: readonly SearchHit[]): TemplateResult | typeof nothing {
    const [first] = hits;
    if (first === undefined) return nothing;
    const { session_id, name, agent, project, outside } = first;
    const about = [project?.split("/").at(-1), agent, outside && "started outside"].flatMap((part) =>
      part ? [sanitizeLine(part)] : [],
    );
    return html`<section class="found-session">
      <h2 class="found-name">
        <a class="cut" href=${app.href(outside ? { name: "outside", session_id, ...defined({ agent }) } : { name: "session", session_id })}>${sanitizeLine(name ?? session_id.slice(0, 8))}</a>
        <span class="found-about">${about.join(" · ")}</span>
      </h2>
      <ul class="found-hits">
        ${hits.map((hit) => this.#hit(app, hit))}
      </ul>
    </section>`;
  }

  #hit(app: App, hit: SearchHit): TemplateResult {
    const { session_id, seq, role, at_ms, agent, outside } = hit;
    const place = { session_id, at_seq: seq };
    const route: Route = outside
      ? { name: "outside", ...place, ...defined({ agent }) }
      : { name: "session", ...place };
    return html`<li>
      <a class="found-hit" data-role=${role} href=${app.href(route)}>
        <span class="found-about">${ROLE_NAMES[role]}</span>
        <span class="found-text">${splitMarks(hit).map(({ text, isMarked }) =>
          isMarked ? html`<mark>${sanitizeLine(text)}</mark>` : sanitizeLine(text),
        )}</span>
        <span class="found-about number">${at_ms === undefined ? "" : formatAge(Math.max(0, app.now() - at_ms))}</span>
      </a>
    </li>`;
  }
}

if (customElements.get("x-search") === undefined) customElements.define("x-search", SearchElement);
