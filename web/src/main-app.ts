// The page frame: sign-in, layout, global keys, notices and dialogs.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { listFleetRows } from "../../src/client/view/fleet.ts";
import type { App, Confirm, Route } from "./app-types.ts";
import { type BrowserEnv, enter, forget, isLink, type Refusal } from "./auth.ts";
import type { FleetElement } from "./fleet/fleet.ts";
import { type Action, ANYWHERE_KEYS, isTyping, readKey } from "./keyboard.ts";
import { awayBanner, gate } from "./main-gate.ts";
import { type Opened, openApp } from "./main-state.ts";
import { canAsk, waitingCount, watchWaiting } from "./notify.ts";
import { loadPage, pageView } from "./pages.ts";
import type { RequestElement } from "./session/request-card.ts";

/** Maximum time between the keys of a sequence. */
const SEQUENCE_MS = 1_200;
/** Maximum time to wait for a request card to appear. */
const CARD_MS = 3_000;

/** Loaded with its page. */
type InboxLike = HTMLElement & { step?(by: 1 | -1): void };

const PAGES: readonly PageAction[] = ["home", "search", "inbox", "new", "stats", "usage", "daemon", "help"];

interface OpenDialog {
  question: Confirm;
  answer(value: boolean): void;
}

class AppElement extends LitElement {
  static override properties = {
    phase: { state: true },
    isSidebarOpen: { state: true },
    asked: { state: true },
    hasAskedNotify: { state: true },
  };
  declare phase: "entering" | "open" | Refusal;
  declare isSidebarOpen: boolean;
  declare asked: OpenDialog | undefined;
  declare hasAskedNotify: boolean;
  #opened: Opened | undefined;
  #token: string | undefined;
  #stops: (() => void)[] = [];
  #before: { key: string; atMs: number } | undefined;

  constructor() {
    super();
    this.phase = "entering";
    this.isSidebarOpen = false;
    this.hasAskedNotify = false;
  }

  override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.#onKey);
    addEventListener("hashchange", this.#onHash);
    void this.#enter();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.#onKey);
    removeEventListener("hashchange", this.#onHash);
    this.#leave();
  }

  /** A link opened in this tab does not reload the page. */
  readonly #onHash = (event: HashChangeEvent): void => {
    if (!isLink(location.hash)) return;
    const { hash } = new URL(event.oldURL);
    void this.#enter(isLink(hash) || hash === "" ? "#/" : hash);
  };

  async #enter(back?: string): Promise<void> {
    const entrance = await enter(browserEnv(), back);
    if (entrance.kind === "out") {
      this.phase = entrance.why;
      return;
    }
    if (this.#opened !== undefined) {
      if (this.#token === entrance.token) return;
      this.#leave();
      this.phase = "entering";
      // Remove elements that use the old token first.
      await this.updateComplete;
    }
    this.#open(entrance.token);
  }

  #open(token: string): void {
    this.#token = token;
    this.#opened = openApp({
      token,
      onRefused: () => {
        if (this.#token !== token) return;
        forget(browserEnv());
        this.#leave();
        this.phase = "refused";
      },
      confirm: (question) => this.#confirm(question),
    });
    const { app } = this.#opened;
    const update = (): void => this.requestUpdate();
    this.#stops = [
      app.fleet.subscribe(update),
      app.notices.subscribe(update),
      app.route.subscribe(() => {
        this.isSidebarOpen = false;
        void loadPage(app, app.route.get());
        this.requestUpdate();
      }),
      watchWaiting(app),
    ];
    void loadPage(app, app.route.get());
    this.phase = "open";
  }

  #leave(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#opened?.close();
    this.#opened = undefined;
  }

  override render(): unknown {
    if (this.phase === "entering") return html`<main class="gate" aria-busy="true"><p>Loading…</p></main>`;
    if (this.phase !== "open" || this.#opened === undefined)
      return gate(this.phase === "open" ? "refused" : this.phase);
    const { app, dismiss } = this.#opened;
    const route = app.route.get();
    const { link } = app.fleet.get();
    this.dataset["connection"] = link.state;
    this.dataset["route"] = route.name;
    return html`
      ${this.#topbar(app, route)}
      ${link.state === "lost" ? awayBanner(location.port) : nothing}
      <div class="scrim" ?hidden=${!this.isSidebarOpen} @click=${() => this.#showSidebar(false)}></div>
      <aside class="sidebar ${this.isSidebarOpen ? "is-open" : ""}" aria-label="Sessions">
        <x-fleet .app=${app}></x-fleet>
      </aside>
      <main class="main" id="main" tabindex="-1">${pageView(app, route)}</main>
      <div class="toasts" role="status" aria-live="polite">
        ${repeat(
          app.notices.get(),
          ({ id }) => id,
          ({ id, level, text }) => html`<div class="toast" data-level=${level}>
            <span>${text}</span>
            <button class="toast-close quiet" aria-label="Dismiss" @click=${() => dismiss(id)}>×</button>
          </div>`,
        )}
      </div>
      <div class="visually-hidden" role="status" aria-live="assertive">${waitingLabel(waitingCount(app.fleet.get()))}</div>
      ${this.#dialog()}
    `;
  }

  #topbar(app: App, route: Route): TemplateResult {
    const count = waitingCount(app.fleet.get());
    const link = (to: Route, label: string): TemplateResult =>
      html`<a href=${app.href(to)} aria-current=${isSamePage(to, route) ? "page" : "false"}>${label}</a>`;
    return html`<header class="topbar">
      <button class="menu quiet" aria-label="Sessions" aria-expanded=${this.isSidebarOpen} @click=${() => this.#showSidebar(!this.isSidebarOpen)}>
        ☰
      </button>
      <a class="brand" href=${app.href({ name: "home" })}>blemees</a>
      <nav class="topnav" aria-label="Pages">
        ${link({ name: "new" }, "New")} ${link({ name: "search" }, "Search")} ${link({ name: "inbox" }, "Inbox")} ${link({ name: "stats" }, "Usage")} ${link({ name: "daemon" }, "Daemon")} ${link({ name: "help" }, "Help")}
      </nav>
      ${
        canAsk() && !this.hasAskedNotify
          ? html`<button class="notify-ask quiet" @click=${this.#askNotify}>Enable notifications</button>`
          : nothing
      }
      <a class="waiting button ${count > 0 ? "is-waiting" : ""}" ?hidden=${count === 0} href=${app.href({ name: "inbox" })}>${count} waiting</a>
    </header>`;
  }

  #dialog(): unknown {
    if (this.asked === undefined) return nothing;
    const { question, answer } = this.asked;
    return html`<dialog class="dialog" aria-labelledby="dialog-title" @close=${() => answer(false)}>
      <h2 class="dialog-title" id="dialog-title">${question.title}</h2>
      <p class="dialog-text">${question.text}</p>
      ${dialogOption(question.option)}
      <div class="dialog-actions">
        <button class="quiet" autofocus @click=${() => answer(false)}>Cancel</button>
        <button class=${question.isDangerous ? "danger" : "primary"} @click=${() => answer(true)}>${question.action}</button>
      </div>
    </dialog>`;
  }

  override updated(changed: PropertyValues): void {
    if (!changed.has("asked") || this.asked === undefined) return;
    const dialog = this.querySelector("dialog");
    if (dialog !== null && !dialog.open) dialog.showModal();
  }

  #confirm(question: Confirm): Promise<boolean> {
    this.asked?.answer(false);
    const focused = document.activeElement;
    return new Promise((resolve) => {
      const asked: OpenDialog = {
        question,
        answer: (value) => {
          if (this.asked !== asked) return;
          this.asked = undefined;
          if (focused instanceof HTMLElement) focused.focus();
          resolve(value);
        },
      };
      this.asked = asked;
    });
  }

  #showSidebar(isOpen: boolean): void {
    this.isSidebarOpen = isOpen;
  }

  readonly #askNotify = (): void => {
    this.hasAskedNotify = true;
    void Notification.requestPermission();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || this.#opened === undefined || this.asked !== undefined) return;
    if (isTyping(event.target, event.key) || this.#answer(event)) return;
    const recent = this.#before !== undefined && event.timeStamp - this.#before.atMs < SEQUENCE_MS;
    const { action, before } = readKey(event, recent ? this.#before?.key : undefined);
    this.#before = before === undefined ? undefined : { key: before, atMs: event.timeStamp };
    if (action === undefined) return;
    event.preventDefault();
    this.#do(action);
  };

  /** y and n answer the request that is shown, wherever the focus is. */
  #answer(event: KeyboardEvent): boolean {
    if (!ANYWHERE_KEYS.includes(event.key)) return false;
    const card = this.querySelector<HTMLElement>('.card[data-status="pending"]');
    const request = card?.closest<RequestElement>("x-request");
    request?.press(event);
    return request !== null && request !== undefined;
  }

  #do(action: Action): void {
    if (this.#opened === undefined) return;
    const { app } = this.#opened;
    const session = this.querySelector("x-session") as (Element & { act?(action: Action): void }) | null;
    const by = action === "next" ? 1 : -1;
    if (action === "next" || action === "previous") {
      if (app.route.get().name === "inbox") this.querySelector<InboxLike>("x-inbox")?.step?.(by);
      else this.#step(app, by);
    } else if (action === "waiting") this.#nextWaiting(app);
    else if (action === "filter") {
      this.isSidebarOpen = true;
      this.querySelector<HTMLElement>("x-fleet input")?.focus();
    } else if (isPage(action)) app.navigate({ name: action });
    else session?.act?.(action);
  }

  #step(app: App, by: number): void {
    const ids = listFleetRows(app.fleet.get()).map(({ session }) => session.session_id);
    const route = app.route.get();
    const at = route.name === "session" ? ids.indexOf(route.session_id) : -1;
    const next = at === -1 ? ids[by > 0 ? 0 : ids.length - 1] : ids[at + by];
    if (next !== undefined) app.navigate({ name: "session", session_id: next });
  }

  /** Goes to the oldest waiting session, or the one after the current, and focuses its card. */
  #nextWaiting(app: App): void {
    const pending = [...app.fleet.get().requests.values()].filter(({ status }) => status === "pending");
    const ids = [...new Set(pending.map(({ session_id }) => session_id))];
    if (ids.length === 0) {
      app.notify("info", "No pending requests.");
      return;
    }
    const route = app.route.get();
    if (route.name === "inbox") return;
    if (route.name === "home" && this.querySelector<FleetElement>("x-fleet")?.showWaiting() === true) return;
    const at = route.name === "session" ? ids.indexOf(route.session_id) : -1;
    const card = this.querySelector<HTMLElement>('.card[data-status="pending"]');
    // First the visible card; pressed again, the next session.
    if (at !== -1 && card !== null && !card.contains(document.activeElement)) {
      card.focus();
      return;
    }
    const next = ids[(at + 1) % ids.length];
    if (next === undefined || (at === 0 && ids.length === 1)) return;
    app.navigate({ name: "session", session_id: next });
    this.#focusNextCard();
  }

  /** Waits for the card to be drawn, unless the user does something else meanwhile. */
  #focusNextCard(): void {
    const done = new AbortController();
    const { signal } = done;
    setTimeout(() => done.abort(), CARD_MS);
    addEventListener("keydown", () => done.abort(), { signal });
    addEventListener("pointerdown", () => done.abort(), { signal });
    const focus = (event: Event): void => {
      if (event.target instanceof HTMLElement) event.target.focus();
      done.abort();
    };
    this.addEventListener("card-drawn", focus, { signal });
  }
}

type PageAction = Extract<Action, Exclude<Route["name"], "session">>;

function isPage(action: Action): action is PageAction {
  return PAGES.some((name) => name === action);
}

/** Both pages about usage have one link. */
function isSamePage(to: Route, { name }: Route): boolean {
  return to.name === name || (to.name === "stats" && name === "usage");
}

function waitingLabel(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 pending request" : `${count} pending requests`;
}

function browserEnv(): BrowserEnv {
  return { location, history, storage: sessionStorage, fetch: (path, init) => fetch(path, init) };
}

function dialogOption(option: Confirm["option"]): unknown {
  if (option === undefined) return nothing;
  const set = ({ target }: Event): void => option.set(target instanceof HTMLInputElement && target.checked);
  return html`<label class="dialog-option"><input type="checkbox" checked @change=${set} /> ${option.label}</label>`;
}

customElements.define("x-app", AppElement);
