// <x-usage>: what turns used in any range of days, by day, agent, project or session.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { defined } from "../../../src/base/values.ts";
import { formatDuration, formatSpending, formatTokenSum } from "../../../src/client/view/format.ts";
import type { UsageGroup, UsageGroupBy, UsageReply, UsageSums } from "../../../src/protocol/usage-report.ts";
import type { App } from "../app-types.ts";
import "./chart.ts";
import { checkRange, DAY_RANGES, type DayRange, findRange, listDays, nameDay } from "./days.ts";
import { costByDay, tokensByDay } from "./usage-specs.ts";
import { usageTabs } from "./usage-tabs.ts";

const BY_LABELS: Record<UsageGroupBy, string> = {
  day: "Day",
  agent: "Agent",
  project: "Project",
  session: "Session",
};
const GROUPS: readonly UsageGroupBy[] = ["day", "agent", "project", "session"];
const PAGE = 100;

class UsageElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    range: { state: true },
    by: { state: true },
    days: { state: true },
    groups: { state: true },
    trouble: { state: true },
  };
  declare app: App | undefined;
  declare sessionId: string | undefined;
  declare range: DayRange;
  declare by: UsageGroupBy;
  /** The days of the range. */
  declare days: UsageReply | undefined;
  /** The groups chosen, with all pages read so far. */
  declare groups: UsageReply | undefined;
  declare trouble: string;
  #reading: AbortController | undefined;

  constructor() {
    super();
    this.range = findRange(30, Date.now());
    this.by = "project";
    this.trouble = "";
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
    if (this.hasUpdated) void this.#read();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#reading?.abort();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("app") || changed.has("sessionId") || changed.has("range") || changed.has("by"))
      void this.#read();
  }

  async #read(): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.trouble = checkRange(this.range);
    if (this.app === undefined || this.trouble !== "") return;
    try {
      const days = await this.#ask("day", reading.signal);
      const groups = this.by === "day" ? days : await this.#ask(this.by, reading.signal);
      if (reading.signal.aborted) return;
      this.days = days;
      this.groups = groups;
    } catch (error) {
      if (!reading.signal.aborted) this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  #ask(by: UsageGroupBy, signal: AbortSignal, after?: string): Promise<UsageReply> {
    const { app, range, sessionId } = this;
    if (app === undefined) throw new Error("the page is closed");
    const time_zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const limit = by === "day" ? undefined : PAGE;
    return app.api.usage(
      { by, ...range, time_zone, ...defined({ limit, after, session_id: sessionId }) },
      signal,
    );
  }

  readonly #readMore = async (): Promise<void> => {
    const before = this.groups;
    if (before?.next === undefined || this.#reading === undefined) return;
    const { signal } = this.#reading;
    try {
      const more = await this.#ask(this.by, signal, before.next);
      if (!signal.aborted) this.groups = { ...more, groups: [...before.groups, ...more.groups] };
    } catch (error) {
      if (!signal.aborted) this.app?.fail(error);
    }
  };

  protected override render(): TemplateResult | typeof nothing {
    const { app, days, groups, trouble, sessionId } = this;
    if (app === undefined) return nothing;
    return html`<header class="page-head">
        <h1>${sessionId === undefined ? "Usage" : html`<span class="cut">${this.#name(sessionId)}</span>`}</h1>
        ${usageTabs(app, "usage", sessionId)}
        ${sessionId === undefined ? nothing : html`<a href=${app.href({ name: "usage" })}>All sessions</a>`}
        <div class="segments" role="group" aria-label="Time range">
          ${DAY_RANGES.map(({ days: count, label }) => {
            const range = findRange(count, app.now());
            const isChosen = range.from === this.range.from && range.to === this.range.to;
            return html`<button type="button" aria-pressed=${String(isChosen)} @click=${() => this.#choose(range)}>${label}</button>`;
          })}
        </div>
        <div class="usage-range">
          ${this.#day("From", "from")} ${this.#day("To", "to")}
        </div>
      </header>
      ${trouble === "" ? nothing : html`<p class="error-text" role="alert">Could not load usage: ${trouble}</p>`}
      ${
        days === undefined || groups === undefined
          ? trouble === ""
            ? html`<p class="empty"><span class="spinner"></span></p>`
            : nothing
          : this.#figures(app, days, groups)
      }`;
  }

  #day(label: string, end: keyof DayRange): TemplateResult {
    const set = (event: Event): void => {
      const { value } = event.currentTarget as HTMLInputElement;
      if (value !== "") this.#choose({ ...this.range, [end]: value });
    };
    return html`<label>${label} <input type="date" .value=${this.range[end]} @change=${set} /></label>`;
  }

  #choose(range: DayRange): void {
    this.range = range;
  }

  #figures(app: App, days: UsageReply, groups: UsageReply): TemplateResult {
    const { total, recorded_since_ms } = days;
    const since =
      recorded_since_ms === undefined || recorded_since_ms <= days.from_ms
        ? nothing
        : html`<p class="faint">Recorded since ${nameDay(recorded_since_ms)}; of earlier turns nothing is known.</p>`;
    if (total.turns === 0)
      return html`<p class="empty">
          No turn ended from ${this.range.from} to ${this.range.to}. A turn counts when it ends; choose a longer range.
        </p>
        ${since}`;
    const starts = listDays(days.from_ms, days.to_ms);
    return html`${since} ${tiles(total)}
      <div class="chart-grid">
        ${panel("Tokens by day", html`<x-chart .spec=${tokensByDay(starts, days.groups)}></x-chart>`)}
        ${panel(
          "Cost by day",
          total.cost_usd === undefined
            ? html`<p class="empty">No agent reported a cost.</p>`
            : html`<x-chart .spec=${costByDay(starts, days.groups)}></x-chart>`,
        )}
        <section class="chart-panel is-wide">
          <h2>By</h2>
          <div class="segments" role="group" aria-label="Group by">
            ${GROUPS.map(
              (by) => html`<button
                type="button"
                aria-pressed=${String(by === this.by)}
                @click=${() => {
                  this.by = by;
                }}
              >
                ${BY_LABELS[by]}
              </button>`,
            )}
          </div>
          ${this.#table(app, groups)}
        </section>
      </div>`;
  }

  #table(app: App, { by, groups, next }: UsageReply): TemplateResult {
    return html`<div class="table-scroll">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">${BY_LABELS[by]}</th><th scope="col">Turns</th><th scope="col">Tokens in</th><th scope="col">From cache</th>
              <th scope="col">Tokens out</th><th scope="col">Cost</th><th scope="col">Worked</th><th scope="col">Waited for you</th>
            </tr>
          </thead>
          <tbody>
            ${groups.map(
              (group) => html`<tr>
                <th scope="row">${this.#key(app, by, group)}</th>
                <td>${group.turns}</td>
                <td>${formatTokenSum(group.input_tokens)}</td>
                <td>${formatTokenSum(group.cached_tokens)}</td>
                <td>${formatTokenSum(group.output_tokens)}</td>
                <td>${formatSpending(group)}</td>
                <td>${formatDuration(worked(group))}</td>
                <td>${group.waited_ms === 0 ? "" : formatDuration(group.waited_ms)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${next === undefined ? nothing : html`<button type="button" class="quiet" @click=${this.#readMore}>Show more</button>`}`;
  }

  #key(app: App, by: UsageGroupBy, { key, name }: UsageGroup): TemplateResult {
    if (key === "") return html`<span class="faint">unknown</span>`;
    const text = sanitizeLine(by === "session" ? (name ?? key.slice(0, 8)) : key);
    if (by !== "session") return html`<span class="cut" title=${text}>${text}</span>`;
    return html`<a class="cut" href=${app.href({ name: "session", session_id: key })}>${text}</a>`;
  }

  #name(session_id: string): string {
    const session = this.app?.fleet.get().sessions.get(session_id);
    return sanitizeLine(session?.name || session?.title || session_id);
  }
}

function tiles(total: UsageSums): TemplateResult {
  const shown: [string, string][] = [
    ["Turns", String(total.turns)],
    ["Tokens in", formatTokenSum(total.input_tokens)],
    ["From cache", formatTokenSum(total.cached_tokens)],
    ["Tokens out", formatTokenSum(total.output_tokens)],
    ["Cost", formatSpending(total)],
    ["Worked", formatDuration(worked(total))],
  ];
  return html`<dl class="tiles">
    ${shown.map(([label, value]) => html`<div class="tile"><dt>${label}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

function worked({ duration_ms, waited_ms }: UsageSums): number {
  return Math.max(0, duration_ms - waited_ms);
}

function panel(title: string, content: TemplateResult): TemplateResult {
  return html`<section class="chart-panel"><h2>${title}</h2>${content}</section>`;
}

if (customElements.get("x-usage") === undefined) customElements.define("x-usage", UsageElement);
