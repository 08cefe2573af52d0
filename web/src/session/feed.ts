// The feed of a session, a virtualized list. It follows the end until the user scrolls up; then the visible items stay in
// place.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import type { Entry } from "../../../src/client/view/types.ts";
import { type EntryContext, itemView } from "./entry-view.ts";
import { type FeedItem, isOpen } from "./items.ts";
import { type Anchor, anchorAt, findTop, type RowRange, rangeAt, sumHeights } from "./list-math.ts";

const OVERSCAN = 600;
/** Distance in px that counts as the end. */
const END = 3;
/** Layout passes per frame: measured heights may change what is visible. */
const MAX_PASSES = 4;
const GUESS: Readonly<Record<Entry["kind"], number>> = {
  user: 70,
  text: 90,
  thinking: 34,
  tool: 40,
  request: 60,
  notice: 34,
  result: 34,
  gap: 34,
};

export class FeedElement extends LitElement {
  static override properties = {
    items: { attribute: false },
    context: { attribute: false },
    earlier: { attribute: false },
  };
  declare items: readonly FeedItem[];
  declare context: EntryContext;
  /** Content above the first item. */
  declare earlier: unknown;
  /** Set by the first render. */
  #scroller: HTMLElement | null = null;
  #list: HTMLElement | null = null;
  #before: HTMLElement | null = null;
  #after: HTMLElement | null = null;
  readonly #heights = new Map<string, number>();
  #keys: readonly string[] = [];
  #indexOf: ReadonlyMap<string, number> = new Map();
  #offsets = sumHeights([]);
  #range: RowRange = { from: 0, to: 0 };
  #isFollowing = true;
  #anchor: Anchor | undefined;
  /** Our own scroll position; anything else is the user scrolling. */
  #top = 0;
  #width = 0;
  #passes = 0;
  /** The last item when the user left the end. */
  #lastSeen: string | undefined;
  readonly #resized = new ResizeObserver(() => this.#onResize());

  constructor() {
    super();
    this.items = [];
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resized.disconnect();
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  followEnd(): void {
    this.#isFollowing = true;
    this.requestUpdate();
  }

  /** Scrolls an item into view, a little below the top. */
  show(key: string): void {
    this.#isFollowing = false;
    this.#anchor = { key, below: -60 };
    this.requestUpdate();
  }

  focusFeed(): void {
    this.#scroller?.focus();
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("items")) {
      this.#passes = 0;
      this.#keys = this.items.map(({ key }) => key);
      this.#indexOf = new Map(this.#keys.map((key, index) => [key, index]));
    }
    this.#lay();
    this.#range = this.#findRange();
  }

  override render(): unknown {
    const { from, to } = this.#range;
    const drawn = this.items.slice(from, to);
    const unseen = this.#unseen();
    return html`<div class="feed" role="log" aria-live="off" aria-label="Session events" tabindex="0" @scroll=${this.#onScroll}>
        <div class="feed-earlier">${this.earlier}</div>
        <div class="feed-items">
          <div class="feed-before" aria-hidden="true"></div>
          ${repeat(
            drawn,
            ({ key }) => key,
            (item) => html`<div class="feed-item" data-key=${item.key}>
              ${guard(this.#dependencies(item), () => itemView(item, this.context))}
            </div>`,
          )}
          <div class="feed-after" aria-hidden="true"></div>
        </div>
      </div>
      ${
        this.#isFollowing
          ? nothing
          : html`<button class="below" type="button" @click=${() => this.followEnd()}>
              ${unseen > 0 ? `${unseen} new` : "Jump to latest"} ↓
            </button>`
      }`;
  }

  override firstUpdated(): void {
    this.#scroller = this.querySelector(".feed");
    this.#list = this.querySelector(".feed-items");
    this.#before = this.querySelector(".feed-before");
    this.#after = this.querySelector(".feed-after");
    if (this.#scroller === null) return;
    this.#scroller.style.overflowAnchor = "none";
    this.#resized.observe(this.#scroller);
  }

  override updated(): void {
    this.#setSpaces();
    if (this.#measure()) {
      this.#lay();
      this.#setSpaces();
    }
    this.#place();
    const needed = this.#findRange();
    if (needed.from >= this.#range.from && needed.to <= this.#range.to) return;
    this.#passes += 1;
    if (this.#passes < MAX_PASSES) this.requestUpdate();
    else requestAnimationFrame(() => this.requestUpdate());
  }

  #dependencies({ entry, blocks, isLast }: FeedItem): unknown[] {
    const isRunning = entry.kind === "tool" && entry.status === "running";
    const { folds, found, nowMs } = this.context;
    return [
      entry,
      blocks,
      isLast,
      isOpen(entry, folds),
      folds.get(entry.id),
      found === entry.id,
      isRunning ? Math.floor(nowMs / 1000) : 0,
    ];
  }

  #lay(): void {
    this.#offsets = sumHeights(
      this.items.map(({ key, entry }) => this.#heights.get(key) ?? GUESS[entry.kind]),
    );
  }

  /** The target scroll position, relative to the list. */
  #findTop(): number {
    const height = this.#scroller?.clientHeight ?? 0;
    const total = this.#offsets.at(-1) ?? 0;
    if (this.#isFollowing) return Math.max(0, total - height);
    const anchored =
      this.#anchor === undefined ? undefined : findTop(this.#anchor, this.#indexOf, this.#offsets);
    return anchored ?? this.#top - (this.#list?.offsetTop ?? 0);
  }

  #findRange(): RowRange {
    return rangeAt(this.#offsets, this.#findTop(), this.#scroller?.clientHeight ?? 800, OVERSCAN);
  }

  #setSpaces(): void {
    const [before, after] = [this.#before, this.#after];
    const { from, to } = this.#range;
    if (before !== null) before.style.height = `${this.#offsets[from] ?? 0}px`;
    if (after !== null) after.style.height = `${(this.#offsets.at(-1) ?? 0) - (this.#offsets[to] ?? 0)}px`;
  }

  /** Measures from top to top, to include margins. True if a height changed. */
  #measure(): boolean {
    const items = this.#list?.querySelectorAll<HTMLElement>(":scope > .feed-item") ?? [];
    const end = this.#after?.getBoundingClientRect().top ?? 0;
    const tops = [...items].map((item) => item.getBoundingClientRect().top);
    let hasChanged = false;
    for (const [index, item] of [...items].entries()) {
      const key = item.dataset["key"] ?? "";
      const height = (tops[index + 1] ?? end) - (tops[index] ?? end);
      if (Math.abs((this.#heights.get(key) ?? -1) - height) < 0.5) continue;
      this.#heights.set(key, height);
      hasChanged = true;
    }
    if (this.#heights.size > 4 * this.#keys.length + 1_000)
      for (const key of this.#heights.keys()) if (!this.#indexOf.has(key)) this.#heights.delete(key);
    return hasChanged;
  }

  #place(): void {
    const scroller = this.#scroller;
    if (scroller === null) return;
    const base = this.#list?.offsetTop ?? 0;
    const top = this.#isFollowing ? scroller.scrollHeight : this.#findTop() + base;
    if (this.#isFollowing || Math.abs(scroller.scrollTop - top) >= 1) scroller.scrollTop = top;
    this.#top = scroller.scrollTop;
  }

  readonly #onScroll = (): void => {
    const scroller = this.#scroller;
    if (scroller === null || Math.abs(scroller.scrollTop - this.#top) < 1) return;
    const wasFollowing = this.#isFollowing;
    this.#isFollowing = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop < END;
    this.#top = scroller.scrollTop;
    this.#anchor = anchorAt(this.#keys, this.#offsets, this.#top - (this.#list?.offsetTop ?? 0));
    if (wasFollowing && !this.#isFollowing) this.#lastSeen = this.#keys.at(-1);
    this.#passes = 0;
    this.requestUpdate();
  };

  #onResize(): void {
    const width = this.#scroller?.clientWidth ?? 0;
    // All lines wrap differently.
    if (width !== this.#width) this.#heights.clear();
    this.#width = width;
    this.#passes = 0;
    this.requestUpdate();
  }

  #unseen(): number {
    const last = this.#lastSeen === undefined ? undefined : this.#indexOf.get(this.#lastSeen);
    return last === undefined ? 0 : this.items.length - 1 - last;
  }
}

customElements.define("x-feed", FeedElement);
