// <x-stats>: usage and activity in the last hour, day or week, for all sessions or one.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { defined } from "../../../src/base/values.ts";
import { formatCost, formatDuration, formatTokens } from "../../../src/client/view/format.ts";
import type { Stats } from "../../../src/protocol/stats.ts";
import type { App } from "../app-types.ts";
import { icon } from "../icons.ts";
import { isTyping } from "../keyboard.ts";
import "./chart.ts";
import { backendFigures, bucketTurns, isBad, percentile, toolFigures } from "./figures.ts";
import { STATS_KEYS, toKey } from "./keys.ts";
import { bucketStarts, findSpan, fittingRange, RANGES, type TimeRange } from "./ranges.ts";
import { costChart, latencyChart, tokensChart } from "./specs.ts";
import { backendsTable, bucketsTable, lanesTable, toolsTable } from "./tables.ts";
import { layoutTimeline } from "./timeline.ts";
import { timelineView } from "./timeline-view.ts";
import { usageTabs } from "./usage-tabs.ts";

const LABELS: Record<TimeRange, string> = { hour: "Hour", day: "Day", week: "Week" };
/** Refresh interval while visible. */
const REFRESH_MS = 15_000;

class StatsElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    range: { state: true },
    stats: { state: true },
    trouble: { state: true },
    isTable: { state: true },
    isWhole: { state: true },
  };
  declare app: App | undefined;
  declare sessionId: string | undefined;
  declare range: TimeRange;
  declare stats: Stats | undefined;
  declare trouble: string | undefined;
  declare isTable: boolean;
  declare isWhole: boolean;
  #reading: AbortController | undefined;
  #readAtMs = 0;
  #hasRange = false;
  #end: (() => void) | undefined;

  constructor() {
    super();
    this.range = "day";
    this.isTable = false;
    this.isWhole = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
    addEventListener("keydown", this.#onKey);
    if (this.hasUpdated) void this.#read();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.#onKey);
    this.#reading?.abort();
    this.#end?.();
    this.#end = undefined;
  }

  protected override willUpdate(changed: PropertyValues): void {
    this.#end ??= this.app?.clock.subscribe((now) => {
      if (now - this.#readAtMs >= REFRESH_MS) void this.#read();
    });
    if (changed.has("app") || changed.has("sessionId") || changed.has("range")) void this.#read();
  }

  async #read(): Promise<void> {
    const { app, sessionId } = this;
    if (app === undefined) return;
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#readAtMs = app.now();
    // From the start of the first bucket, so that it is complete.
    const since_ms = bucketStarts(this.range, findSpan(this.range, app.now()))[0] ?? 0;
    try {
      const query = { since_ms, ...defined({ session_id: sessionId }) };
      const stats = await app.api.stats(query, reading.signal);
      if (reading.signal.aborted) return;
      this.stats = stats;
      this.trouble = undefined;
      // Choose the shortest range that shows everything.
      if (!this.#hasRange) this.range = firstRange(stats);
      this.#hasRange = true;
    } catch (error) {
      if (!reading.signal.aborted) this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, stats, trouble, sessionId } = this;
    if (app === undefined) return nothing;
    return html`<header class="page-head">
        <h1>${sessionId === undefined ? "Usage and activity" : html`<span class="cut">${this.#name(sessionId)}</span>`}</h1>
        ${usageTabs(app, "stats", sessionId)}
        ${sessionId === undefined ? nothing : html`<a href=${app.href({ name: "stats" })}>All sessions</a>`}
        <div class="segments" role="group" aria-label="Time range">
          ${RANGES.map(
            (range) => html`<button
              type="button"
              aria-pressed=${String(range === this.range)}
              aria-keyshortcuts=${toKey(range)}
              @click=${() => this.#choose(range)}
            >
              ${LABELS[range]} <kbd aria-hidden="true">${toKey(range)}</kbd>
            </button>`,
          )}
        </div>
        <button type="button" aria-pressed=${String(this.isTable)} aria-keyshortcuts=${toKey("tables")} @click=${this.#switch}>
          ${icon(this.isTable ? "chart" : "table")}Tables <kbd aria-hidden="true">${toKey("tables")}</kbd>
        </button>
      </header>
      ${trouble === undefined ? nothing : html`<p class="error-text" role="alert">Could not load usage: ${trouble}</p>`}
      ${
        stats === undefined
          ? trouble === undefined
            ? html`<p class="empty"><span class="spinner"></span></p>`
            : nothing
          : this.#figures(app, stats)
      }`;
  }

  #figures(app: App, stats: Stats): TemplateResult {
    const { range, isTable } = this;
    if (stats.turns.length + stats.tools.length + stats.waits.length === 0)
      return html`<p class="empty">
        No activity in the last ${range}. Turns, tools and waiting times appear here as agents work; for earlier days see
        <a href=${app.href({ name: "usage" })}>Totals</a>.
      </p>`;
    const span = findSpan(range, stats.until_ms);
    const buckets = bucketTurns(stats.turns, bucketStarts(range, span));
    const lanes = layoutTimeline(stats, span);
    const tools = toolFigures(stats.tools);
    const getName = (id: string): string => this.#name(id);
    return html`${stats.is_cut ? html`<p class="faint">Only the most recent activity is shown.</p>` : nothing}
      ${this.#tiles(stats)}
      <div class="chart-grid">
        ${
          isTable
            ? panel("Tokens and cost", bucketsTable(range, buckets), true)
            : html`${panel("Tokens", html`<x-chart .spec=${tokensChart(range, buckets)}></x-chart>`)}
              ${panel(
                "Cost",
                buckets.some(({ cost_usd }) => cost_usd > 0)
                  ? html`<x-chart .spec=${costChart(range, buckets)}></x-chart>`
                  : html`<p class="empty">No cost reported in the last ${range}.</p>`,
              )}`
        }
        ${panel(
          "Turns and waiting",
          isTable
            ? lanesTable(range, lanes, getName)
            : timelineView(lanes, {
                range,
                span,
                getName,
                toHref: (session_id) => app.href({ name: "session", session_id }),
                isWhole: this.isWhole,
                showAll: () => {
                  this.isWhole = true;
                },
              }),
          true,
        )}
        ${tools.length === 0 ? nothing : panel("Tool latency", toolsTable(tools))}
        ${
          isTable || tools.length === 0
            ? nothing
            : panel(
                "All tool calls",
                html`<x-chart .spec=${latencyChart(range, span, stats.tools)}></x-chart>`,
              )
        }
        ${panel("By agent", backendsTable(backendFigures(stats)), true)}
      </div>`;
  }

  #tiles({ turns, tools, waits, until_ms }: Stats): TemplateResult {
    const sum = (of: (turn: Stats["turns"][number]) => number): number =>
      turns.reduce((total, turn) => total + of(turn), 0);
    const answered = waits.map(({ started_at_ms, ended_at_ms }) => (ended_at_ms ?? until_ms) - started_at_ms);
    const wait = percentile(answered, 50);
    const tiles: [string, string, string][] = [
      ["Turns", String(turns.length), countFailed(turns)],
      ["Tokens in", formatTokens(sum(({ input_tokens }) => input_tokens ?? 0)), ""],
      ["Tokens out", formatTokens(sum(({ output_tokens }) => output_tokens ?? 0)), ""],
      ["Cost", formatCost(sum(({ cost_usd }) => cost_usd ?? 0)), ""],
      ["Tool calls", String(tools.length), countFailed(tools)],
      ["Waited for you", String(waits.length), wait === undefined ? "" : `median ${formatDuration(wait)}`],
    ];
    return html`<dl class="tiles">
      ${tiles.map(
        ([label, value, more]) =>
          html`<div class="tile"><dt>${label}</dt><dd>${value}</dd>${more === "" ? nothing : html`<dd class="faint">${more}</dd>`}</div>`,
      )}
    </dl>`;
  }

  #name(session_id: string): string {
    const session = this.app?.fleet.get().sessions.get(session_id);
    return sanitizeLine(session?.name || session?.title || session_id);
  }

  #choose(range: TimeRange): void {
    this.#hasRange = true;
    if (range === this.range) return;
    this.range = range;
    this.stats = undefined;
  }

  readonly #switch = (): void => {
    this.isTable = !this.isTable;
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isTyping(event.target, event.key)
    )
      return;
    const action = STATS_KEYS.find(({ keys }) => keys[0] === event.key)?.action;
    if (action === "tables") this.#switch();
    else if (action !== undefined) this.#choose(action);
  };
}

/** The last hour if nothing is older, otherwise a day. */
function firstRange({ turns, tools, waits, until_ms }: Stats): TimeRange {
  const moments = [...turns, ...tools, ...waits].map(({ started_at_ms }) => started_at_ms);
  return fittingRange(moments, until_ms, "day");
}

function countFailed(list: readonly { status: string }[]): string {
  const failed = list.filter(({ status }) => isBad(status)).length;
  return failed === 0 ? "none failed" : `${failed} failed`;
}

function panel(title: string, content: TemplateResult, isWide = false): TemplateResult {
  return html`<section class="chart-panel ${isWide ? "is-wide" : ""}"><h2>${title}</h2>${content}</section>`;
}

if (customElements.get("x-stats") === undefined) customElements.define("x-stats", StatsElement);
