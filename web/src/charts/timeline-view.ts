// Draws the timeline: one lane per session with its turns and waits, as SVG positioned by attributes (no styles).
import { html, nothing, svg, type TemplateResult } from "lit";
import { formatDuration } from "../../../src/client/view/format.ts";
import { createTicks, momentName, type TimeRange, type TimeSpan } from "./ranges.ts";
import type { Bar, Lane } from "./timeline.ts";

export interface TimelineContext {
  range: TimeRange;
  span: TimeSpan;
  /** Session name, sanitized. */
  getName(session_id: string): string;
  toHref(session_id: string): string;
  /** Show all lanes, not only the latest. */
  isWhole: boolean;
  showAll(): void;
}

const FEW_LANES = 16;

export function timelineView(lanes: readonly Lane[], context: TimelineContext): TemplateResult {
  const { range, span, isWhole } = context;
  const shown = isWhole ? lanes : lanes.slice(0, FEW_LANES);
  const ticks = createTicks(range, span, 7);
  const place = (at: number): string => percent((at - span.from_ms) / (span.to_ms - span.from_ms));
  return html`<div class="timeline">
      ${shown.map(
        (
          lane,
        ) => html`<a class="lane-name cut" href=${context.toHref(lane.session_id)}>${context.getName(lane.session_id)}</a>
          <svg class="lane" role="img" aria-label=${describeLane(lane)}>
            ${ticks.map((at) => svg`<line class="lane-tick" x1=${place(at)} x2=${place(at)} y1="0" y2="100%" />`)}
            ${lane.turns.map((bar) => barView(bar, range))} ${lane.waits.map((bar) => barView(bar, range))}
          </svg>`,
      )}
      <span></span>
      <svg class="lane-axis" aria-hidden="true">
        ${ticks.map((at) => svg`<text x=${place(at)} y="14">${momentName(range, at)}</text>`)}
      </svg>
    </div>
    <p class="legend">
      <span class="legend-item"><span class="swatch" data-colour="1"></span>turn</span>
      <span class="legend-item"><span class="swatch" data-colour="wait"></span>waited for you</span>
      <span class="legend-item"><span class="swatch" data-colour="bad"></span>failed</span>
      ${
        shown.length === lanes.length
          ? nothing
          : html`<button type="button" class="small quiet" @click=${() => context.showAll()}>
              Show all ${lanes.length} sessions
            </button>`
      }
    </p>`;
}

function barView(bar: Bar, range: TimeRange): TemplateResult {
  const isWait = bar.kind === "wait";
  // Short bars stay visible.
  const width = Math.max(0.004, bar.to - bar.from);
  return svg`<rect
    class="lane-bar" data-kind=${bar.kind} ?data-bad=${bar.isBad} ?data-open=${bar.isOpen}
    x=${percent(Math.min(bar.from, 1 - width))} width=${percent(width)}
    y=${isWait ? "5" : "4"} height=${isWait ? "14" : "16"} rx="2"
  ><title>${describeBar(bar, range)}</title></rect>` as unknown as TemplateResult;
}

export function describeBar(bar: Bar, range: TimeRange): string {
  const took = formatDuration(bar.ended_at_ms - bar.started_at_ms);
  const what = bar.kind === "wait" ? "waited for you" : bar.isBad ? "turn, failed" : "turn";
  const many = bar.count > 1 ? `${bar.count} × ` : "";
  return `${many}${what}, ${momentName(range, bar.started_at_ms)}, ${took}${bar.isOpen ? " so far" : ""}`;
}

function describeLane(lane: Lane): string {
  const count = (bars: readonly Bar[]): number => bars.reduce((sum, bar) => sum + bar.count, 0);
  const words = (many: number, one: string): string => `${many} ${one}${many === 1 ? "" : "s"}`;
  return `${words(count(lane.turns), "turn")}, waited for you ${words(count(lane.waits), "time")}`;
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(3)}%`;
}
