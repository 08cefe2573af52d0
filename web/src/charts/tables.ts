// Tables of tools and agents, and table versions of the charts.
import { html, nothing, svg, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { formatCost, formatDuration, formatTokens } from "../../../src/client/view/format.ts";
import type { BackendFigures, Bucket, ToolFigures } from "./figures.ts";
import { bucketName, type TimeRange } from "./ranges.ts";
import type { Lane } from "./timeline.ts";
import { describeBar } from "./timeline-view.ts";

export function toolsTable(tools: readonly ToolFigures[]): TemplateResult {
  const longest = Math.max(1, ...tools.map(({ p95_ms = 0 }) => p95_ms));
  return html`<div class="table-scroll">
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Tool</th><th scope="col">Calls</th><th scope="col">p50</th><th scope="col">p95</th>
          <th scope="col"><span class="visually-hidden">As bars</span></th>
        </tr>
      </thead>
      <tbody>
        ${tools.map(
          ({ tool, count, failed, p50_ms, p95_ms }) => html`<tr>
            <th scope="row" class="mono"><span class="cut">${sanitizeLine(tool)}</span></th>
            <td>${count}${failed === 0 ? nothing : html` <span class="error-text">${failed} failed</span>`}</td>
            <td>${p50_ms === undefined ? nothing : formatDuration(p50_ms)}</td>
            <td>${p95_ms === undefined ? nothing : formatDuration(p95_ms)}</td>
            <td class="figures-bar">${latencyBar((p50_ms ?? 0) / longest, (p95_ms ?? 0) / longest)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function latencyBar(p50: number, p95: number): TemplateResult {
  return html`<svg class="minibar" aria-hidden="true">
    ${svg`<rect class="minibar-far" width="${(p95 * 100).toFixed(1)}%" height="100%" rx="2" />`}
    ${svg`<rect class="minibar-near" width="${(p50 * 100).toFixed(1)}%" height="100%" rx="2" />`}
  </svg>`;
}

export function backendsTable(backends: readonly BackendFigures[]): TemplateResult {
  return html`<div class="table-scroll">
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Agent</th><th scope="col">Turns</th><th scope="col">Tokens in</th><th scope="col">Tokens out</th>
          <th scope="col">Cost</th><th scope="col">Busy</th><th scope="col">First token</th>
        </tr>
      </thead>
      <tbody>
        ${backends.map(
          (one) => html`<tr>
            <th scope="row"><span class="cut">${sanitizeLine(one.backend)}</span></th>
            <td>${one.turns}${one.failed === 0 ? nothing : html` <span class="error-text">${one.failed} failed</span>`}</td>
            <td>${formatTokens(one.input_tokens)}</td>
            <td>${formatTokens(one.output_tokens)}</td>
            <td>${formatCost(one.cost_usd)}</td>
            <td>${formatDuration(one.busy_ms)}</td>
            <td>${one.first_token_ms === undefined ? "" : formatDuration(one.first_token_ms)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function bucketsTable(range: TimeRange, buckets: readonly Bucket[]): TemplateResult {
  const used = buckets.filter(({ turns }) => turns > 0);
  return html`<div class="table-scroll">
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">From</th><th scope="col">Turns</th><th scope="col">Tokens in</th><th scope="col">Tokens out</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        ${used.map(
          (one) => html`<tr>
            <th scope="row">${bucketName(range, one.start_ms)}</th>
            <td>${one.turns}</td>
            <td>${formatTokens(one.input_tokens)}</td>
            <td>${formatTokens(one.output_tokens)}</td>
            <td>${formatCost(one.cost_usd)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function lanesTable(
  range: TimeRange,
  lanes: readonly Lane[],
  getName: (id: string) => string,
): TemplateResult {
  return html`<div class="table-scroll">
    <table class="figures">
      <thead>
        <tr><th scope="col">Session</th><th scope="col" class="figures-list">Turns and waiting</th></tr>
      </thead>
      <tbody>
        ${lanes.map(({ session_id, turns, waits }) => {
          const bars = [...turns, ...waits].sort((a, b) => a.started_at_ms - b.started_at_ms);
          return html`<tr>
            <th scope="row"><span class="cut">${getName(session_id)}</span></th>
            <td class="figures-list">
              <ul>
                ${bars.slice(-12).map((bar) => html`<li>${describeBar(bar, range)}</li>`)}
                ${bars.length > 12 ? html`<li class="faint">and ${bars.length - 12} earlier</li>` : nothing}
              </ul>
            </td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}
