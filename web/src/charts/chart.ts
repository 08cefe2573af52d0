// <x-chart>: a chart with its legend, in theme colors, as wide as its container.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { watchTheme } from "../help/theme.ts";
import type { ChartSpec, Colour, Colours } from "./chart-spec.ts";
import type { Plot } from "./plot.ts";

const COLOURS: Readonly<Record<Colour, string>> = {
  "1": "--chart-1",
  "2": "--chart-2",
  "3": "--chart-3",
  "4": "--chart-4",
  "5": "--chart-5",
  rest: "--text-faint",
};

class ChartElement extends LitElement {
  static override properties = {
    spec: { attribute: false },
    point: { state: true },
    trouble: { state: true },
  };
  declare spec: ChartSpec | undefined;
  declare point: number | undefined;
  declare trouble: string | undefined;
  #plot: Plot | undefined;
  #isLoading = false;
  #end: (() => void) | undefined;
  readonly #resized = new ResizeObserver(() => this.#plot?.resize(this.#size()));

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resized.observe(this);
    this.#end = watchTheme(() => this.#draw());
    this.requestUpdate("spec");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resized.disconnect();
    this.#end?.();
    this.#plot?.close();
    this.#plot = undefined;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { spec, point } = this;
    if (spec === undefined) return nothing;
    const at = point === undefined ? undefined : spec.xs[point];
    return html`<p class="legend">
        ${spec.series.map(({ label, colour, values }) => {
          const value = point === undefined ? undefined : values[point];
          return html`<span class="legend-item">
            <span class="swatch" data-colour=${colour}></span>${label}
            ${value === undefined || value === null ? nothing : html`<b>${spec.yName(value)}</b>`}
          </span>`;
        })}
        <span class="legend-when">${at === undefined ? "" : spec.pointName(at)}</span>
      </p>
      <div class="chart-canvas" role="img" aria-label=${spec.label}></div>
      ${this.trouble === undefined ? nothing : html`<p class="error-text">${this.trouble}</p>`}`;
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("spec")) void this.#load();
  }

  async #load(): Promise<void> {
    const root = this.querySelector<HTMLElement>(".chart-canvas");
    if (root === null || this.#isLoading) return;
    if (this.#plot === undefined) {
      this.#isLoading = true;
      try {
        const { createPlot } = await import("./plot.ts");
        if (!this.isConnected) return;
        this.#plot = createPlot(root, (point) => {
          this.point = point;
        });
      } catch (error) {
        this.trouble = `Could not load the chart (${error instanceof Error ? error.message : String(error)}). Reload the page.`;
        return;
      } finally {
        this.#isLoading = false;
      }
    }
    this.#draw();
  }

  #draw(): void {
    if (this.spec !== undefined) this.#plot?.draw(this.spec, this.#colours(), this.#size());
  }

  #size(): { width: number; height: number } {
    const root = this.querySelector<HTMLElement>(".chart-canvas");
    return { width: Math.max(160, this.clientWidth), height: root?.clientHeight || 180 };
  }

  /** A canvas cannot use CSS variables, so they are resolved here. */
  #colours(): Colours {
    const probe = document.createElement("i");
    this.append(probe);
    const colour = (name: string): string => {
      probe.style.setProperty("color", `var(${name})`);
      return getComputedStyle(probe).color;
    };
    const series = Object.fromEntries(Object.entries(COLOURS).map(([key, name]) => [key, colour(name)]));
    const colours = {
      series: series as Record<Colour, string>,
      text: colour("--text-faint"),
      grid: colour("--chart-grid"),
      font: getComputedStyle(this).fontFamily,
    };
    probe.remove();
    return colours;
  }
}

if (customElements.get("x-chart") === undefined) customElements.define("x-chart", ChartElement);
