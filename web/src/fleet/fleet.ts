// <x-fleet>: the session list, a tree with waiting sessions first. Only visible rows are rendered.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { type Fleet, listFleetRows } from "../../../src/client/view/fleet.ts";
import { formatCost, formatTokens } from "../../../src/client/view/format.ts";
import type { App } from "../app-types.ts";
import { Follow } from "../follow.ts";
import { icon } from "../icons.ts";
import { followVisibleHeight } from "../visible-height.ts";
import "../help/theme.ts";
import { type ListAction, listAction } from "./keys.ts";
import { fleetRow, type RowContext } from "./row.ts";
import {
  countTotals,
  findOffset,
  findRequestTitles,
  findWindow,
  type Group,
  groupRows,
  type Item,
  isMatch,
  searchRows,
  stepFrom,
} from "./rows.ts";
import "./welcome.ts";

const GROUP_LABELS: Record<Group, string> = {
  waiting: "Waiting for you",
  working: "Working",
  idle: "Idle",
  stopped: "Stopped",
};
/** Inputs of the list. */
interface MadeOf {
  fleet: Fleet;
  search: string;
  folded: ReadonlySet<string>;
}
const KEYS_OF_LIST = ["fleet", "search", "folded"] as const;
/** At this width a row is one line with columns. */
const WIDE_PX = 760;

class FleetElement extends LitElement {
  static override properties = { app: { attribute: false } };
  declare app: App | undefined;

  #search = "";
  #folded: ReadonlySet<string> = new Set();
  #arranged: { madeOf?: MadeOf } = {};
  #cursor: string | undefined;
  #items: Item[] = [];
  #heights = { row: 52, group: 32 };
  #seen = { top: 0, height: 800 };
  #room = { before: 0, total: 0 };
  #isWide = false;
  #endHeight: (() => void) | undefined;
  readonly #resized = new ResizeObserver(() => this.#look());

  constructor() {
    super();
    new Follow(this, () => (this.app === undefined ? [] : [this.app.fleet, this.app.route, this.app.clock]));
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resized.observe(this);
    this.#endHeight = followVisibleHeight(window.visualViewport, document.documentElement);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resized.disconnect();
    this.#endHeight?.();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app } = this;
    if (app === undefined) return nothing;
    const fleet = app.fleet.get();
    if (fleet.sessions.size === 0)
      return fleet.link.state === "live"
        ? html`<x-welcome .app=${app}></x-welcome>`
        : html`<p class="empty" role="status"><span class="spinner"></span> Loading sessions…</p>`;
    this.#arrange(fleet);
    const isHome = app.route.get().name === "home";
    return html`${isHome ? html`<h1 class="visually-hidden">Sessions</h1>` : nothing}
      <div class="fleet-head">
        <label class="fleet-filter">
          ${icon("search")}
          <input
            type="search"
            placeholder="Filter sessions"
            aria-label="Filter sessions"
            aria-keyshortcuts="/"
            autocomplete="off"
            spellcheck="false"
            .value=${this.#search}
            @input=${this.#onSearch}
            @keydown=${this.#onSearchKey}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        <a class="button primary" href=${app.href({ name: "new" })} aria-keyshortcuts="n">
          ${icon("plus")}<span>New</span>
        </a>
        <x-theme></x-theme>
        ${this.#totals(app)}
      </div>
      ${this.#list(app)}`;
  }

  /** Cached, because scrolling and the clock redraw often. */
  #arrange(fleet: Fleet): void {
    const made = { fleet, search: this.#search, folded: this.#folded };
    const { madeOf } = this.#arranged;
    if (madeOf !== undefined && KEYS_OF_LIST.every((key) => madeOf[key] === made[key])) return;
    this.#arranged = { madeOf: made };
    this.#items = groupRows(searchRows(listFleetRows(fleet), this.#search), this.#folded);
  }

  #totals(app: App): TemplateResult {
    const { sessions, working, tokens, cost_usd } = countTotals(app.fleet.get());
    return html`<p class="fleet-totals">
      <span><b>${working}</b> working</span>
      <span><b>${sessions}</b> ${sessions === 1 ? "session" : "sessions"}</span>
      <span><b>${formatTokens(tokens)}</b> tokens</span>
      <span><b>${formatCost(cost_usd)}</b></span>
    </p>`;
  }

  #list(app: App): TemplateResult {
    const { first, last, before, total } = findWindow(this.#items, this.#heights, this.#seen);
    const route = app.route.get();
    const context: RowContext = {
      app,
      asked: findRequestTitles(app.fleet.get()),
      chosen: route.name === "session" ? route.session_id : undefined,
      cursor: this.#cursor,
      toggle: (id) => this.#fold(id, !this.#folded.has(id)),
    };
    this.#room = { before, total };
    return html`<div class="fleet-columns" aria-hidden="true">
        <span>State</span><span>Session</span><span>Last action</span><span>Agent</span><span>Tokens</span
        ><span>Cost</span><span>Active</span>
      </div>
      <div
        class="fleet-list"
        role="tree"
        tabindex="0"
        aria-label="Sessions"
        aria-activedescendant=${this.#cursor === undefined ? nothing : `row-${this.#cursor}`}
        @scroll=${this.#look}
        @keydown=${this.#onKey}
        @focus=${this.#onFocus}
      >
        <div class="fleet-room">
          <div class="fleet-window">
            ${repeat(
              this.#items.slice(first, last),
              (item) => (item.kind === "row" ? item.row.session.session_id : `group ${item.group}`),
              (item) =>
                item.kind === "row"
                  ? fleetRow(item, context)
                  : html`<h2 class="fleet-group" role="presentation" data-group=${item.group}>
                      ${GROUP_LABELS[item.group]}<span class=${item.group === "waiting" ? "count" : "faint"}
                        >${item.count}</span
                      >
                    </h2>`,
            )}
          </div>
        </div>
        ${this.#items.length > 0 ? nothing : html`<p class="empty">No sessions match “${this.#search}”.</p>`}
      </div>`;
  }

  protected override updated(_changed: PropertyValues): void {
    this.classList.toggle("is-wide", this.#isWide);
    this.toggleAttribute("data-empty", this.app?.fleet.get().sessions.size === 0);
    this.querySelector<HTMLElement>(".fleet-room")?.style.setProperty("height", `${this.#room.total}px`);
    this.querySelector<HTMLElement>(".fleet-window")?.style.setProperty(
      "translate",
      `0 ${this.#room.before}px`,
    );
    this.#look();
  }

  /** Measures the row heights and finds the visible rows. */
  readonly #look = (): void => {
    const list = this.querySelector<HTMLElement>(".fleet-list");
    if (list === null) return;
    const row = list.querySelector<HTMLElement>(".fleet-row")?.offsetHeight || this.#heights.row;
    const group = list.querySelector<HTMLElement>(".fleet-group")?.offsetHeight || this.#heights.group;
    const isWide = this.clientWidth >= WIDE_PX;
    const seen = { top: list.scrollTop, height: list.clientHeight };
    const hasMoved = Math.abs(seen.top - this.#seen.top) >= row || seen.height !== this.#seen.height;
    if (!hasMoved && isWide === this.#isWide && row === this.#heights.row && group === this.#heights.group)
      return;
    this.#isWide = isWide;
    this.#heights = { row, group };
    this.#seen = seen;
    this.requestUpdate();
  };

  readonly #onSearch = (event: Event): void => {
    this.#search = (event.target as HTMLInputElement).value;
    this.#cursor = undefined;
    this.requestUpdate();
  };

  readonly #onSearchKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.#cursor = this.#firstMatch();
      this.#move(0);
      this.querySelector<HTMLElement>(".fleet-list")?.focus();
      if (event.key === "Enter") this.#open();
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#search = "";
      this.requestUpdate();
      this.querySelector<HTMLElement>(".fleet-list")?.focus();
    }
  };

  /** Skips rows shown only because of their descendants. */
  #firstMatch(): string | undefined {
    const found = this.#items.find((item) => item.kind === "row" && isMatch(item.row.session, this.#search));
    return found?.kind === "row" ? found.row.session.session_id : undefined;
  }

  readonly #onFocus = (): void => {
    const route = this.app?.route.get();
    if (this.#cursor === undefined && route?.name === "session") this.#cursor = route.session_id;
    if (this.#cursor === undefined) this.#move(0);
    this.requestUpdate();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const page = Math.max(1, Math.floor(this.#seen.height / this.#heights.row) - 1);
    const fold = (isFolded: boolean): void => {
      if (this.#cursor !== undefined) this.#fold(this.#cursor, isFolded);
    };
    const acts: Readonly<Record<ListAction, () => void>> = {
      down: () => this.#move(1),
      up: () => this.#move(-1),
      pageDown: () => this.#move(page),
      pageUp: () => this.#move(-page),
      first: () => this.#move(-this.#items.length),
      last: () => this.#move(this.#items.length),
      fold: () => fold(true),
      unfold: () => fold(false),
      open: () => this.#open(),
    };
    const action = listAction(event.key);
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    acts[action]();
  };

  /** Left on a row without children goes to the parent. */
  #fold(id: string, isFolded: boolean): void {
    const item = this.#items.find((one) => one.kind === "row" && one.row.session.session_id === id);
    if (item?.kind !== "row") return;
    const parent = item.row.session.parent;
    if (isFolded && (item.children === 0 || item.isFolded) && parent !== undefined && item.row.depth > 0)
      this.#cursor = parent;
    else if (isFolded && item.children > 0) this.#folded = new Set([...this.#folded, id]);
    else this.#folded = new Set([...this.#folded].filter((other) => other !== id));
    this.requestUpdate();
  }

  #move(by: number): void {
    this.#cursor = stepFrom(this.#items, this.#cursor, by);
    const index = this.#items.findIndex(
      (item) => item.kind === "row" && item.row.session.session_id === this.#cursor,
    );
    const list = this.querySelector<HTMLElement>(".fleet-list");
    if (list !== null && index !== -1) {
      const top = findOffset(this.#items, this.#heights, index);
      const room = this.#heights.row + this.#heights.group;
      if (top - this.#heights.group < list.scrollTop) list.scrollTop = top - this.#heights.group;
      else if (top + room > list.scrollTop + list.clientHeight)
        list.scrollTop = top + room - list.clientHeight;
    }
    this.requestUpdate();
  }

  #open(): void {
    if (this.#cursor !== undefined) this.app?.navigate({ name: "session", session_id: this.#cursor });
  }
}

if (customElements.get("x-fleet") === undefined) customElements.define("x-fleet", FleetElement);
