// Icons: 16x16, stroked in the text color (style/base.css). Hidden from screen readers; each has a text or label beside it.
import { svg, type TemplateResult } from "lit";

const SHAPES = {
  plus: svg`<path d="M8 3v10M3 8h10" />`,
  search: svg`<circle cx="7" cy="7" r="4.2" /><path d="m10.2 10.2 3.3 3.3" />`,
  filter: svg`<path d="M2 4h12M4.5 8h7M7 12h2" />`,
  sun: svg`<circle cx="8" cy="8" r="2.8" /><path d="M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1" />`,
  moon: svg`<path d="M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6Z" />`,
  screen: svg`<rect x="2" y="3" width="12" height="8" rx="1.4" /><path d="M6 13.5h4" />`,
  hand: svg`<path d="M8 4.2v4.3l2.6 1.5" /><circle cx="8" cy="8" r="6" />`,
  question: svg`<path d="M5.6 6.1a2.4 2.4 0 1 1 3.5 2.1c-.7.4-1.1.8-1.1 1.6M8 12.3v.1" /><circle cx="8" cy="8" r="6.4" />`,
  work: svg`<path d="M3 8h2l1.6-4 2.6 8L10.8 8H13" />`,
  think: svg`<path d="M4 8h.1M8 8h.1M12 8h.1" stroke-width="2.4" />`,
  idle: svg`<circle cx="8" cy="8" r="5" />`,
  stopped: svg`<rect x="4" y="4" width="8" height="8" rx="1" />`,
  stalled: svg`<path d="M8 2.4 14.4 13.4H1.6ZM8 6.6v3M8 11.6v.1" />`,
  fold: svg`<path d="m6 4 4 4-4 4" />`,
  table: svg`<rect x="2" y="3" width="12" height="10" rx="1.4" /><path d="M2 6.5h12M6.5 6.5V13" />`,
  chart: svg`<path d="M2.5 2.5v11h11M5.5 10.5V8M8.5 10.5v-5M11.5 10.5V7" />`,
  play: svg`<path d="M5 3.2v9.6L12.6 8Z" />`,
} as const;

export type IconName = keyof typeof SHAPES;

export function icon(name: IconName): TemplateResult {
  return svg`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[name]}</svg>` as unknown as TemplateResult;
}
