// "Make a rule of this" on an answered request: shows the suggested rules, and exactly which of the latest requests each
// would have decided, before one is saved.
import { html, LitElement, nothing } from "lit";
import { revealLine } from "../../../src/base/sanitize.ts";
import type { PolicyPreview } from "../../../src/client/http/types.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import type { App } from "../app-types.ts";

class RuleMakerElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    request: { attribute: false },
    suggestions: { state: true },
    isBusy: { state: true },
    saved: { state: true },
    problem: { state: true },
  };
  declare app: App;
  declare request: RequestRow;
  declare suggestions: readonly PolicyPreview[] | undefined;
  declare isBusy: boolean;
  declare saved: string;
  declare problem: string;

  constructor() {
    super();
    this.isBusy = false;
    this.saved = "";
    this.problem = "";
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override render(): unknown {
    const { answer, rule_id, status } = this.request;
    const isDecided = status === "resolved" && answer !== undefined && "decision" in answer;
    if (!isDecided || rule_id !== undefined) return nothing;
    if (this.saved !== "")
      return html`<p class="card-note" role="status">Saved the rule <code>${this.saved}</code>.</p>`;
    return html`<div class="rule-maker">
      ${
        this.suggestions === undefined
          ? html`<button type="button" class="quiet rule-make" ?disabled=${this.isBusy} @click=${() => this.#load()}>
              Make a rule of this…
            </button>`
          : this.#list(this.suggestions)
      }
      ${this.problem === "" ? nothing : html`<p class="error-text" role="alert">${this.problem}</p>`}
    </div>`;
  }

  #list(suggestions: readonly PolicyPreview[]): unknown {
    if (suggestions.length === 0)
      return html`<p class="card-note">No rule can be made of this request; <code>sm policy explain</code> says why.</p>`;
    return suggestions.map(
      (one) => html`<section class="rule">
        <pre class="exact">${revealLine(one.text)}</pre>
        <p class="card-note">
          Of the last ${one.compared} requests, it would have decided ${one.matches.length || "none"}${one.matches.length > 0 ? ":" : "."}
        </p>
        <ul class="rule-matches">
          ${one.matches.map(({ title, outcome }) => html`<li><code>${revealLine(title)}</code> (${outcome})</li>`)}
        </ul>
        <button type="button" class="choice rule-save" ?disabled=${this.isBusy} @click=${() => this.#save(one)}>
          Save this rule
        </button>
      </section>`,
    );
  }

  /** The card would leave after a moment; now it stays. */
  async #load(): Promise<void> {
    const { session_id, request_id } = this.request;
    this.dispatchEvent(new CustomEvent("request-kept", { detail: request_id, bubbles: true }));
    await this.#do(async () => {
      this.suggestions = await this.app.api.suggestRules(session_id, request_id);
    });
  }

  async #save({ rule }: PolicyPreview): Promise<void> {
    await this.#do(async () => {
      const added = await this.app.api.addRule(rule);
      this.saved = added.rule.id;
      this.dispatchEvent(
        new CustomEvent("request-released", { detail: this.request.request_id, bubbles: true }),
      );
    });
  }

  async #do(work: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    this.problem = "";
    try {
      await work();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.isBusy = false;
    }
  }
}

customElements.define("x-rule-maker", RuleMakerElement);
