// <x-session>: one live session with its facts, feed, requests, queue and composer.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { ChangeBody } from "../../../src/client/http/types.ts";
import { getSessionName } from "../../../src/client/view/format.ts";
import { openSource, type Source } from "../../../src/client/view/source.ts";
import type { Entry, RequestRow, View, ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView, findFirstSeq } from "../../../src/client/view.ts";
import type { App } from "../app-types.ts";
import type { Action } from "../keyboard.ts";
import { activityLine } from "./activity.ts";
import { Cards } from "./cards.ts";
import type { ComposerElement } from "./composer.ts";
import "./composer.ts";
import type { EntryContext } from "./entry-view.ts";
import type { FeedElement } from "./feed.ts";
import "./feed.ts";
import { FeedItems, type Folds, isOpen } from "./items.ts";
import { Pace } from "./pace.ts";
import { panel } from "./panel.ts";
import { Place } from "./place.ts";
import { queueView } from "./queue-view.ts";
import type { RawElement } from "./raw.ts";
import "./raw.ts";
import "./request-card.ts";
import { EntryFinder, highlightMatches, stepHit } from "./search.ts";
import { compareLabels, sessionHead } from "./session-head.ts";
import { settingsView } from "./settings.ts";
import { SessionChanges, sessionTabs } from "./tabs.ts";

/** Further requests are shown as these are settled. */
const MAX_CARDS = 20;
/** Events to load at first. */
const HISTORY_EVENTS = 2_000;

class SessionElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    view: { attribute: false },
    atSeq: { attribute: false },
    editing: { state: true },
    words: { state: true },
    found: { state: true },
    isLoading: { state: true },
    hasAll: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  declare view: "changes" | undefined;
  declare atSeq: number | undefined;
  /** What of its head is being edited. */
  declare editing: "name" | "labels" | undefined;
  /** Search text; undefined if the search is closed. */
  declare words: string | undefined;
  declare found: string | undefined;
  declare isLoading: boolean;
  /** The start of the history is loaded. */
  declare hasAll: boolean;
  #view: View = emptyView();
  #source: Source | undefined;
  #cards: Cards | undefined;
  #changes: SessionChanges | undefined;
  #folds: Folds = new Map();
  /** There is more history than was loaded at first. */
  #isLong: boolean | undefined;
  #stopClock: (() => void) | undefined;
  readonly #items = new FeedItems();
  readonly #place = new Place(() => this.atSeq);
  readonly #finder = new EntryFinder();
  readonly #pace = new Pace(() => this.requestUpdate());

  constructor() {
    super();
    this.isLoading = false;
    this.hasAll = false;
  }

  override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#cards = new Cards(this.app.api, () => this.requestUpdate());
    this.#changes = new SessionChanges(this.app.api, this.sessionId, () => this.requestUpdate());
    const listener = (inputs: readonly ViewInput[]): void => {
      const { requests } = this.#view;
      this.#view = applyInputs(this.#view, inputs);
      if (this.#view.requests !== requests) this.#cards?.set(this.#view.requests);
      this.#changes?.follow(this.#view.session);
      this.#pace.want();
    };
    this.#source = openSource(this.app.port, this.sessionId, listener, this.#place.startAt(HISTORY_EVENTS));
    this.#stopClock = this.app.clock.subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    void this.#source?.close();
    this.#cards?.close();
    this.#changes?.close();
    this.#stopClock?.();
    this.#pace.close();
    highlightMatches(null, "");
  }

  act(action: Action): void {
    if (action === "changes") this.#show(this.view === "changes" ? undefined : "changes");
    else if (action === "find") this.#openSearch();
    else if (action === "compose") {
      this.#show(undefined);
      void this.updateComplete.then(() => this.#composer?.focusText());
    }
    if (action === "interrupt") void this.#try(this.app.api.interrupt(this.sessionId));
  }

  override willUpdate(): void {
    if (this.view !== "changes" || customElements.get("x-changes") !== undefined) return;
    import("../changes/changes.ts").catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      this.app.fail(new Error(`Could not load the changes (${why}). Reload the page.`));
      this.#show(undefined);
    });
  }

  override render(): unknown {
    const view = this.#view;
    const { session, requests, queue, closed } = view;
    this.dataset["state"] = session?.activity_state ?? "idle";
    const isGone = closed !== undefined;
    const isChanges = this.view === "changes";
    return html`
      ${sessionHead({
        app: this.app,
        sessionId: this.sessionId,
        session,
        editing: this.editing,
        rename: (name) => void this.#change({ name: name.trim() === "" ? null : name.trim() }),
        relabel: (text) => void this.#change(compareLabels(text, session?.labels)),
        edit: (what) => this.#edit(what),
        archive: (archived) => void this.#archive(archived),
        find: () => this.#openSearch(),
        stop: () => void this.#stop(),
        remove: () => void this.#remove(),
      })}
      ${panel(view, this.app.now())} ${sessionTabs(this.app, this.sessionId, isChanges, this.#changes?.count, isGone ? nothing : settingsView(this.app, session))} ${isChanges ? nothing : this.#search()}
      ${isGone ? html`<div class="banner" role="status">${goneText(closed)}</div>` : nothing}
      ${
        isChanges && this.#changes !== undefined
          ? html`<x-changes
              .app=${this.app}
              .sessionId=${this.sessionId}
              .source=${this.#changes.source}
              .state=${this.#changes.source.state}
              .isWorking=${session?.turn !== undefined}
              .isBlocked=${requests.length > 0}
            ></x-changes>`
          : html`<x-feed .items=${this.#items.of(view.entries, this.#folds)} .context=${this.#context()} .earlier=${this.#earlier()}></x-feed>`
      }
      ${isChanges ? nothing : activityLine(view, Date.now())} ${this.#requests()} ${queueView(queue, (message) => void this.#try(this.app.api.cancelInput(this.sessionId, message.message_id)))}
      ${
        isGone || isChanges
          ? nothing
          : html`<x-composer
              .app=${this.app}
              .sessionId=${this.sessionId}
              .isWorking=${session?.turn !== undefined}
              .isBlocked=${requests.length > 0}
              .isOffline=${view.link.state === "lost"}
              .said=${this.#listMessages}
              @composer-act=${this.#onComposer}
              @composer-sent=${() => this.#feed?.followEnd()}
            ></x-composer>`
      }
      <x-raw .app=${this.app} .sessionId=${this.sessionId}></x-raw>
    `;
  }

  override updated(changed: PropertyValues): void {
    this.#place.show(this.#view, this.#items.of(this.#view.entries, this.#folds), this.#feed);
    if (changed.has("editing") && this.editing !== undefined) {
      const input = this.querySelector<HTMLInputElement>(".session-rename input");
      input?.focus();
      input?.select();
    }
    if (this.words !== undefined || changed.has("words")) {
      const words = this.words ?? "";
      void this.#feed?.updateComplete.then(() => highlightMatches(this.querySelector(".feed-items"), words));
    }
  }

  readonly #listMessages = (): string[] => listMessages(this.#view.entries);

  get #feed(): FeedElement | null {
    return this.querySelector<FeedElement>("x-feed");
  }

  get #composer(): ComposerElement | null {
    return this.querySelector<ComposerElement>("x-composer");
  }

  #context(): EntryContext {
    return {
      folds: this.#folds,
      toggle: (entry) => this.#toggle(entry),
      // Live events are timestamped on arrival, by this machine's clock.
      nowMs: Date.now(),
      found: this.words === undefined ? undefined : this.found,
      showRaw: (entry) => this.querySelector<RawElement>("x-raw")?.show(entry.seq ?? 1),
    };
  }

  #toggle(entry: Entry): void {
    const isLongMessage = entry.kind === "user";
    const isNow = isLongMessage ? this.#folds.get(entry.id) === true : isOpen(entry, this.#folds);
    this.#folds = new Map(this.#folds).set(entry.id, !isNow);
    this.requestUpdate();
  }

  #earlier(): unknown {
    const { dropped, session, entries } = this.#view;
    if (entries.length === 0 && session !== undefined && session.turns === 0)
      return html`<p class="empty">Nothing was said yet. Write what the agent should do, below.</p>`;
    this.#isLong ??= session === undefined ? undefined : session.last_seq > HISTORY_EVENTS;
    if (dropped === 0 && (this.hasAll || this.#isLong !== true)) return nothing;
    return html`<button class="quiet" type="button" ?disabled=${this.isLoading} @click=${() => void this.#loadEarlier()}>
      ${this.isLoading ? "Loading…" : "Load earlier"}
    </button>`;
  }

  async #loadEarlier(): Promise<void> {
    this.isLoading = true;
    try {
      this.hasAll = !(await this.#source?.loadEarlier(findFirstSeq(this.#view)));
    } catch (error) {
      this.app.fail(error);
    } finally {
      this.isLoading = false;
    }
  }

  #requests(): unknown {
    const rows = this.#cards?.rows() ?? [];
    if (rows.length === 0) return nothing;
    return html`<div class="requests" role="region" aria-label="Pending requests" @request-settled=${this.#onSettled}
      @request-kept=${(event: CustomEvent<string>) => this.#cards?.keep(event.detail)}
      @request-released=${(event: CustomEvent<string>) => this.#cards?.release(event.detail)}>
      ${repeat(
        rows.slice(0, MAX_CARDS),
        ({ request_id }) => request_id,
        (row) => html`<x-request .app=${this.app} .request=${row}></x-request>`,
      )}
      ${rows.length > MAX_CARDS ? html`<p class="card-note">${rows.length - MAX_CARDS} more pending.</p>` : nothing}
    </div>`;
  }

  readonly #onSettled = (event: CustomEvent<RequestRow>): void => {
    const card = event.target instanceof Element ? event.target.querySelector<HTMLElement>(".card") : null;
    const hadFocus = card?.contains(document.activeElement) || document.activeElement === document.body;
    this.#cards?.settle(event.detail);
    if (!hadFocus) return;
    // The buttons are gone: focus the next request, or keep the card.
    void this.updateComplete.then(() => {
      const next = [...this.querySelectorAll<HTMLElement>(".card")].find(
        (each) => each.dataset["status"] === "pending" && each !== card,
      );
      (next ?? card)?.focus();
    });
  };

  #search(): unknown {
    if (this.words === undefined) return nothing;
    const hits = this.#finder.find(this.#view.entries, this.words);
    const at = this.found === undefined ? 0 : hits.indexOf(this.found) + 1;
    const step = (by: 1 | -1): void => this.#goTo(stepHit(hits, this.found, by));
    return html`<form class="search" role="search" @submit=${(event: Event) => {
      event.preventDefault();
      step(-1);
    }}>
      <label class="visually-hidden" for="search-words">Find in this session</label>
      <input id="search-words" type="search" placeholder="Find in this session" .value=${this.words} @input=${this.#onSearch} @keydown=${(
        event: KeyboardEvent,
      ) => {
        if (event.key === "Escape") this.#closeSearch();
      }} />
      <span class="search-count" role="status">${this.words.trim() === "" ? "" : `${at} of ${hits.length}`}</span>
      <button type="submit" class="quiet" ?disabled=${hits.length === 0}>Older</button>
      <button type="button" class="quiet" ?disabled=${hits.length === 0} @click=${() => step(1)}>Newer</button>
      <button type="button" class="quiet" @click=${() => this.#closeSearch()}>Close</button>
    </form>`;
  }

  readonly #onSearch = (event: Event): void => {
    this.words = (event.currentTarget as HTMLInputElement).value;
    this.#goTo(this.#finder.find(this.#view.entries, this.words).at(-1));
  };

  #goTo(id: string | undefined): void {
    this.found = id;
    if (id !== undefined) this.#feed?.show(id);
  }

  #show(view: "changes" | undefined): void {
    const { sessionId: session_id } = this;
    this.app.navigate({ name: "session", session_id, ...(view === undefined ? {} : { view }) });
    // The route follows a moment later.
    this.view = view;
  }

  #openSearch(): void {
    if (this.view === "changes") this.#show(undefined);
    this.words ??= "";
    void this.updateComplete.then(() => this.querySelector<HTMLElement>("#search-words")?.focus());
  }

  #closeSearch(): void {
    this.words = undefined;
    this.found = undefined;
    this.#feed?.focusFeed();
  }

  readonly #onComposer = (event: CustomEvent<"interrupt" | "answer">): void => {
    if (event.detail === "interrupt") this.act("interrupt");
    else this.querySelector<HTMLElement>('.card[data-status="pending"]')?.focus();
  };

  #edit(what: "name" | "labels" | undefined): void {
    this.editing = what;
  }

  async #change(change: ChangeBody | undefined): Promise<void> {
    this.editing = undefined;
    if (change !== undefined) await this.#try(this.app.api.change(this.sessionId, change));
  }

  async #archive(archived: boolean): Promise<void> {
    if (!(await this.#try(this.app.api.change(this.sessionId, { archived })))) return;
    this.app.notify(
      "info",
      archived ? "Archived: lists leave it out until it is used again." : "Shown in lists again.",
    );
  }

  async #stop(): Promise<void> {
    const { session } = this.#view;
    const isSure =
      session?.turn === undefined ||
      (await this.app.confirm({
        title: "Stop this session?",
        text: "This interrupts the turn and ends the agent. The history and queue are kept; the next message restarts it.",
        action: "Stop",
        isDangerous: true,
      }));
    if (isSure) await this.#try(this.app.api.stop(this.sessionId));
  }

  async #remove(): Promise<void> {
    const { session } = this.#view;
    const name = session === undefined ? this.sessionId.slice(0, 8) : sanitizeLine(getSessionName(session));
    const isSure = await this.app.confirm({
      title: `Remove “${name}”?`,
      text: "This ends the agent and permanently deletes the history, queue and requests. Child sessions are kept.",
      action: "Remove",
      isDangerous: true,
    });
    if (!isSure || !(await this.#try(this.app.api.remove(this.sessionId)))) return;
    this.app.notify("info", `Removed “${name}”.`);
    this.app.navigate({ name: "home" });
  }

  async #try(done: Promise<unknown>): Promise<boolean> {
    try {
      await done;
      return true;
    } catch (error) {
      this.app.fail(error);
      return false;
    }
  }
}

/** The user's messages, oldest first, without consecutive duplicates. */
function listMessages(entries: readonly Entry[]): string[] {
  const said: string[] = [];
  for (const entry of entries) {
    if (entry.kind !== "user" || entry.from !== undefined || entry.parent !== undefined) continue;
    if (entry.text !== said.at(-1)) said.push(entry.text);
  }
  return said;
}

function goneText(reason: string): string {
  return reason === "unknown"
    ? "Session not found."
    : "This session was removed. Only what is shown here is left.";
}

customElements.define("x-session", SessionElement);
