// <x-fleet>: the session list, a tree with waiting sessions first. Only visible rows are rendered.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import { formatCost, formatTokens } from "../../../src/client/view/format.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { App } from "../app-types.ts";
import { Follow } from "../follow.ts";
import { icon } from "../icons.ts";
import { followVisibleHeight } from "../visible-height.ts";
import "../help/theme.ts";
import { type Arrangement, arrangeItems, countPicked, findFirstMatch, type ListChoice } from "./arrange.ts";
import { filtersPanel } from "./filters.ts";
import { readArrangement, writeArrangement } from "./kept.ts";
import { type ListAction, listAction } from "./keys.ts";
import { findNextWaiting, findPeeked, peekView } from "./peek.ts";
import { fleetRow, type RowContext } from "./row.ts";
import {
  countTotals,
  findOffset,
  findWindow,
  type GroupItem,
  type Item,
  stepFrom,
  summarizeRequests,
} from "./rows.ts";
import "./welcome.ts";

/** Inputs of the list. */
interface MadeOf {
  fleet: Fleet;
  choice: ListChoice;
  folded: ReadonlySet<string>;
  /** 0 unless the choice depends on the time. */
  minute: number;
}
const KEYS_OF_LIST = ["fleet", "choice", "folded", "minute"] as const;
const MINUTE_MS = 60_000;
/** At this width a row is one line with columns. */
const WIDE_PX = 760;

export class FleetElement extends LitElement {
  static override properties = { app: { attribute: false } };
  declare app: App | undefined;

  #choice: ListChoice = { arrangement: readArrangement(), text: "", picked: {} };
  #isFiltering = false;
  #folded: ReadonlySet<string> = new Set();
  #arranged: { madeOf?: MadeOf } = {};
  #cursor: string | undefined;
  /** Requests answered here. */
  readonly #answered = new Set<string>();
  #asked: ReadonlyMap<string, string> = new Map();
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
    this.addEventListener("request-settled", this.#onSettled);
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
            .value=${this.#choice.text}
            @input=${this.#onSearch}
            @keydown=${this.#onSearchKey}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
        ${this.#filterButton()}
        <a class="button primary" href=${app.href({ name: "new" })} aria-keyshortcuts="n">
          ${icon("plus")}<span>New</span>
        </a>
        <x-theme></x-theme>
        ${this.#totals(app)}
      </div>
      ${
        this.#isFiltering
          ? filtersPanel({
              fleet,
              outside: app.href({ name: "outside" }),
              ...this.#choice,
              arrange: (arrangement) => this.#arrangeBy(arrangement),
              pick: (picked) => this.#choose({ picked }),
            })
          : nothing
      }
      ${this.#list(app)}
      ${isHome && this.#isWide ? peekView(app, this.#peeked(fleet)) : nothing}`;
  }

  #peeked(fleet: Fleet): RequestRow | undefined {
    return findPeeked(fleet, this.#items, this.#cursor, this.#answered);
  }

  /** Shows the next request below the list; false if there is no room for it. */
  showWaiting(): boolean {
    const { app } = this;
    if (app === undefined || !this.#isWide) return false;
    const next = findNextWaiting(app.fleet.get(), this.#items, this.#cursor, this.#answered);
    if (next === undefined) return false;
    this.#cursor = next;
    this.#move(0);
    this.querySelector<HTMLElement>(".fleet-list")?.focus();
    return true;
  }

  readonly #onSettled = (event: Event): void => {
    const { app } = this;
    if (app === undefined) return;
    const { request_id } = (event as CustomEvent<RequestRow>).detail;
    const focused = document.activeElement;
    const hadFocus =
      focused === document.body || this.querySelector(".fleet-peek")?.contains(focused) === true;
    this.#answered.add(request_id);
    const fleet = app.fleet.get();
    if (this.#peeked(fleet) === undefined)
      this.#cursor = findNextWaiting(fleet, this.#items, this.#cursor, this.#answered) ?? this.#cursor;
    if (hadFocus) this.querySelector<HTMLElement>(".fleet-list")?.focus();
    this.#move(0);
  };

  /** Cached, because scrolling and the clock redraw often. */
  #arrange(fleet: Fleet): void {
    const nowMs = this.app?.now() ?? 0;
    const isTimed = /\bage[<>]/.test(this.#choice.text) || hasAge(this.#choice.picked);
    const minute = isTimed ? Math.floor(nowMs / MINUTE_MS) : 0;
    const made = { fleet, choice: this.#choice, folded: this.#folded, minute };
    const { madeOf } = this.#arranged;
    if (madeOf !== undefined && KEYS_OF_LIST.every((key) => madeOf[key] === made[key])) return;
    this.#arranged = { madeOf: made };
    this.#items = arrangeItems(fleet, this.#choice, this.#folded, nowMs);
    this.#asked = summarizeRequests(fleet);
  }

  #filterButton(): TemplateResult {
    const count = countPicked(this.#choice.picked);
    return html`<button
      type="button"
      aria-expanded=${String(this.#isFiltering)}
      aria-controls="fleet-filters"
      aria-label=${count === 0 ? "Filters and order" : `Filters and order, ${count} chosen`}
      @click=${() => {
        this.#isFiltering = !this.#isFiltering;
        this.requestUpdate();
      }}
    >
      ${icon("filter")}${count === 0 ? nothing : html`<span class="count">${count}</span>`}
    </button>`;
  }

  #choose(change: Partial<ListChoice>): void {
    this.#choice = { ...this.#choice, ...change };
    this.#cursor = undefined;
    this.requestUpdate();
  }

  #arrangeBy(arrangement: Arrangement): void {
    writeArrangement(arrangement);
    this.#choose({ arrangement });
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
      asked: this.#asked,
      chosen: route.name === "session" ? route.session_id : undefined,
      cursor: this.#cursor,
      peeked: route.name === "home" && this.#isWide ? this.#peeked(app.fleet.get())?.session_id : undefined,
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
              (item) => (item.kind === "row" ? fleetRow(item, context) : groupHead(item)),
            )}
          </div>
        </div>
        ${this.#items.length > 0 ? nothing : this.#nothing()}
      </div>`;
  }

  #nothing(): TemplateResult {
    const { text, picked } = this.#choice;
    const isFiltered = text.trim() !== "" || countPicked(picked) > 0;
    return html`<div class="empty">
      <p>${isFiltered ? "No session fits the filters." : "All sessions are archived."}</p>
      <button type="button" @click=${() => this.#choose(isFiltered ? { text: "", picked: {} } : { picked: { archived: true } })}>
        ${isFiltered ? "Clear the filters" : "Show archived sessions"}
      </button>
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
    this.#choose({ text: (event.target as HTMLInputElement).value });
  };

  readonly #onSearchKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.#cursor = findFirstMatch(this.#items, this.#choice.text);
      this.#move(0);
      this.querySelector<HTMLElement>(".fleet-list")?.focus();
      if (event.key === "Enter") this.#open();
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#choose({ text: "" });
      this.querySelector<HTMLElement>(".fleet-list")?.focus();
    }
  };

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

function groupHead({ group, title, count, waiting, note }: GroupItem): TemplateResult {
  const isWaiting = group === "waiting";
  return html`<h2 class="fleet-group" role="presentation" data-group=${group}>
    <span class="cut">${sanitizeLine(title)}</span><span class=${isWaiting ? "count" : "faint"}>${count}</span>
    ${waiting === 0 || isWaiting ? nothing : html`<span class="count" aria-label=${`${waiting} waiting for you`}>${waiting}</span>`}
    ${note === undefined ? nothing : html`<span class="fleet-note cut">${note}</span>`}
  </h2>`;
}

function hasAge({ newerMs, olderMs }: ListChoice["picked"]): boolean {
  return newerMs !== undefined || olderMs !== undefined;
}

if (customElements.get("x-fleet") === undefined) customElements.define("x-fleet", FleetElement);
