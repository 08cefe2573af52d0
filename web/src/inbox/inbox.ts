// <x-inbox>: the pending requests of all sessions, oldest first, one of them as a card. Answering shows the next.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import { revealLine, sanitizeLine } from "../../../src/base/sanitize.ts";
import { getProjectPath, nameAsker } from "../../../src/client/view/asker.ts";
import { formatAge } from "../../../src/client/view/format.ts";
import { type InboxItem, type InboxKeys, listInbox } from "../../../src/client/view/inbox.ts";
import { summarizeRequest } from "../../../src/client/view/request-what.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { App } from "../app-types.ts";
import { Follow } from "../follow.ts";
import { isTyping } from "../keyboard.ts";
import { describeOutcome } from "../session/outcome.ts";
import "../session/request-card.ts";
import { findItem, keepItems, stepItem } from "./items.ts";
import { INBOX_KEYS } from "./keys.ts";

class InboxElement extends LitElement {
  static override properties = { app: { attribute: false }, chosen: { attribute: false } };
  declare app: App | undefined;
  /** The id of a request of the item that is shown. */
  declare chosen: string | undefined;

  #items: readonly InboxItem[] = [];
  /** Where the shown item was in the list: the next one is there once it is answered. */
  #at = 0;
  /** The item that is shown, with the list that its card has: the same one while nothing changes. */
  #card: { item: InboxItem; others: readonly RequestRow[] } | undefined;
  #last: RequestRow | undefined;
  readonly #answered = new Set<string>();
  readonly #keys: InboxKeys = new WeakMap();

  constructor() {
    super();
    new Follow(this, () => (this.app === undefined ? [] : [this.app.fleet, this.app.clock]));
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.#onKey);
    this.addEventListener("card-drawn", this.#onDrawn);
    this.addEventListener("request-settled", this.#onSettled);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.#onKey);
  }

  /** Shows another request, without answering. */
  step(by: 1 | -1): void {
    this.#choose(stepItem(this.#items, this.#at, by));
  }

  protected override willUpdate(): void {
    const { app } = this;
    if (app === undefined) return;
    const { requests, sessions } = app.fleet.get();
    const pending = [...requests.values()].filter(({ request_id }) => !this.#answered.has(request_id));
    this.#items = keepItems(this.#items, listInbox(pending, sessions, this.#keys));
    this.#at = findItem(this.#items, this.chosen, this.#at);
    this.chosen = this.#items[this.#at]?.requests[0]?.request_id;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app } = this;
    if (app === undefined) return nothing;
    const item = this.#items[this.#at];
    return html`<header class="inbox-head">
        <h1>Inbox</h1>
        <span class="inbox-place" role="status">${this.#place()}</span>
        ${this.#outcome(app)}
        ${
          item === undefined
            ? nothing
            : html`<span class="inbox-steps">
                <button type="button" class="quiet" aria-keyshortcuts="k" @click=${() => this.step(-1)}>Previous <kbd>k</kbd></button>
                <button type="button" class="quiet" aria-keyshortcuts="j" @click=${() => this.step(1)}>Next <kbd>j</kbd></button>
              </span>`
        }
      </header>
      ${item === undefined ? emptyView(app) : this.#shown(app, item)}`;
  }

  #place(): string {
    const count = this.#items.length;
    return count === 0 ? "" : `${this.#at + 1} of ${count}`;
  }

  #shown(app: App, item: InboxItem): TemplateResult {
    if (this.#card?.item !== item) this.#card = { item, others: item.requests.slice(1) };
    const { others } = this.#card;
    const [request] = item.requests;
    if (request === undefined) return html``;
    const { session_id, request_id } = request;
    return html`<div class="inbox-body">
      <div
        class="inbox-list"
        role="listbox"
        tabindex="0"
        aria-label="Pending requests, oldest first"
        aria-activedescendant=${`inbox-${request_id}`}
        @keydown=${this.#onListKey}
      >
        ${repeat(
          this.#items,
          ({ requests }) => requests[0]?.request_id,
          (one, at) => this.#row(app, one, at),
        )}
      </div>
      <div class="requests inbox-card" role="region" aria-label="Request">
        ${keyed(request_id, html`<x-request .app=${app} .request=${request} .others=${others}></x-request>`)}
        <p class="inbox-session">
          <a href=${app.href({ name: "session", session_id })} aria-keyshortcuts="o">Open the session</a> <kbd>o</kbd>
        </p>
      </div>
    </div>`;
  }

  #row(app: App, { requests }: InboxItem, at: number): TemplateResult {
    const [row] = requests;
    if (row === undefined) return html``;
    const session = app.fleet.get().sessions.get(row.session_id);
    const name = sanitizeLine(session === undefined ? row.session_id.slice(0, 8) : nameAsker(session));
    const what = revealLine(summarizeRequest(row, session && getProjectPath(session)));
    const age = formatAge(Math.max(0, app.now() - row.requested_at_ms));
    const isChosen = at === this.#at;
    return html`<div
      class="inbox-item ${isChosen ? "is-chosen" : ""}"
      role="option"
      id=${`inbox-${row.request_id}`}
      aria-selected=${String(isChosen)}
      @click=${() => this.#choose(at)}
    >
      <span class="inbox-name cut">${name}</span>
      ${requests.length > 1 ? html`<span class="count" aria-label=${`${requests.length} sessions`}>×${requests.length}</span>` : nothing}
      <span class="inbox-age number">${age}</span>
      <span class="inbox-what cut">${what}</span>
    </div>`;
  }

  #outcome(app: App): TemplateResult | typeof nothing {
    if (this.#last === undefined) return nothing;
    const { session_id } = this.#last;
    const session = app.fleet.get().sessions.get(session_id);
    const name = session === undefined ? session_id.slice(0, 8) : nameAsker(session);
    return html`<span class="inbox-outcome cut" role="status"
      >${describeOutcome(this.#last)}: <a href=${app.href({ name: "session", session_id })}>${sanitizeLine(name)}</a></span
    >`;
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("chosen"))
      this.querySelector(".inbox-item.is-chosen")?.scrollIntoView({ block: "nearest" });
  }

  #choose(at: number): void {
    this.chosen = this.#items[at]?.requests[0]?.request_id;
  }

  /** So that all keys of the card work, without a click. */
  readonly #onDrawn = (event: Event): void => {
    const focused = document.activeElement;
    const isElsewhere = focused !== null && focused !== document.body && !this.contains(focused);
    if (isElsewhere || (focused !== null && isTyping(focused, ""))) return;
    // The list keeps the focus of those who use it.
    if (focused?.closest(".inbox-list") === null && event.target instanceof HTMLElement)
      event.target.focus({ preventScroll: true });
  };

  /** The item after it takes its place. */
  readonly #onSettled = (event: Event): void => {
    const { detail } = event as CustomEvent<RequestRow>;
    this.#answered.add(detail.request_id);
    this.#last = detail;
    this.requestUpdate();
  };

  readonly #onListKey = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    this.step(event.key === "ArrowDown" ? 1 : -1);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target, event.key)) return;
    const action = INBOX_KEYS.find(({ keys }) => keys.includes(event.key))?.action;
    if (action === "first") this.#choose(0);
    else if (action === "last") this.#choose(this.#items.length - 1);
    else if (action === "open") this.#open();
    else return;
    event.preventDefault();
  };

  #open(): void {
    const session_id = this.#items[this.#at]?.requests[0]?.session_id;
    if (session_id !== undefined) this.app?.navigate({ name: "session", session_id });
  }
}

function emptyView(app: App): TemplateResult {
  if (app.fleet.get().link.state === "connecting")
    return html`<p class="empty" role="status"><span class="spinner"></span> Loading requests…</p>`;
  return html`<div class="empty inbox-empty">
    <p>Nothing is waiting for you.</p>
    <p>When an agent asks for permission or has a question, it appears here, with all it needs to decide.</p>
    <p>
      <a class="button" href=${app.href({ name: "home" })}>All sessions</a>
      <a class="button" href=${app.href({ name: "new" })}>New session</a>
    </p>
  </div>`;
}

customElements.define("x-inbox", InboxElement);
