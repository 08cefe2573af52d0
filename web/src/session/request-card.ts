// A request card: the full request and its choices. Its keys work only while it has the focus. Input before the user
// could have seen it is ignored, and so is Enter on the card.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { guard } from "lit/directives/guard.js";
import { readErrno } from "../../../src/base/coded-error.ts";
import { revealLine } from "../../../src/base/sanitize.ts";
import { answerFor, toRequestCard } from "../../../src/client/view/request-card.ts";
import type { Answer, RequestRow } from "../../../src/client/view/types.ts";
import type { Choice } from "../../../src/protocol/requests.ts";
import type { App } from "../app-types.ts";
import { CARD_KEYS, DETAILS_KEY } from "../keyboard.ts";
import { type Filled, readAnswers } from "./answers.ts";
import { detailsView, partView } from "./exact.ts";
import { describeOutcome } from "./outcome.ts";
import { questionForm } from "./question-form.ts";
import "./rule-maker.ts";

/** Choices are disabled this long after the card appears, so that a click meant for something else has no effect. */
const SETTLE_MS = 350;
const NEVER = Number.POSITIVE_INFINITY;

class RequestElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    request: { attribute: false },
    whole: { state: true },
    filled: { state: true },
    isDeclining: { state: true },
    isSending: { state: true },
    problem: { state: true },
    readyAtMs: { state: true },
  };
  declare app: App;
  /** The current row; if settled, the card shows the outcome. */
  declare request: RequestRow;
  declare whole: RequestRow | undefined;
  declare filled: ReadonlyMap<string, Filled>;
  declare isDeclining: boolean;
  declare isSending: boolean;
  declare problem: string;
  /** When the choices were enabled, as an event timestamp. */
  declare readyAtMs: number;
  #drawnHash = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.filled = new Map();
    this.isDeclining = false;
    this.isSending = false;
    this.problem = "";
    this.readyAtMs = NEVER;
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("request")) {
      if (this.request.is_cut !== true) this.whole = this.request;
      else if (this.whole?.shown_hash !== this.request.shown_hash) void this.#readWhole();
    }
    const { whole } = this;
    if (whole === undefined || whole.shown_hash === this.#drawnHash) return;
    this.readyAtMs = NEVER;
    if (this.#drawnHash === "") return;
    this.problem = "The request has changed. Review it again.";
    this.isDeclining = false;
    this.filled = new Map();
  }

  override render(): unknown {
    const { request, whole } = this;
    const isPending = request.status === "pending";
    const id = `request-${request.request_id}`;
    return html`<article
      class="card ${isPending ? "is-waiting" : ""}"
      data-type=${request.request_type}
      data-status=${request.status}
      data-request=${request.request_id}
      tabindex="-1"
      aria-labelledby=${id}
      @keydown=${this.#onKey}
    >
      <header class="card-head">
        <h2 class="card-title" id=${id}>
          ${
            isPending
              ? html`<b>${revealLine(request.backend)}</b> ${toRequestCard(whole ?? request).asks}`
              : revealLine(request.payload.title)
          }
        </h2>
      </header>
      ${
        isPending
          ? this.#pending(whole)
          : html`<p class="card-outcome" role="status">${describeOutcome(request)}</p>
              <x-rule-maker .app=${this.app} .request=${request}></x-rule-maker>`
      }
    </article>`;
  }

  override updated(): void {
    const { whole } = this;
    if (whole === undefined || whole.shown_hash === this.#drawnHash) return;
    this.#drawnHash = whole.shown_hash;
    clearTimeout(this.#timer);
    // After the next paint: not visible before.
    requestAnimationFrame(() => {
      this.#timer = setTimeout(() => this.#becomeReady(whole), SETTLE_MS);
    });
    const card = this.querySelector<HTMLElement>(".card");
    // A disabled button would keep the focus but get no keys.
    if (card?.contains(document.activeElement)) card.focus();
    card?.dispatchEvent(new CustomEvent("card-drawn", { bubbles: true }));
  }

  #becomeReady(seen: RequestRow): void {
    if (seen.shown_hash === this.#drawnHash) this.readyAtMs = performance.now();
  }

  #pending(whole: RequestRow | undefined): unknown {
    if (whole === undefined)
      return html`<p class="card-note">${this.problem || "Loading the full request…"}</p>`;
    const { questions } = whole.payload;
    return html`
      ${guard([whole], () => toRequestCard(whole).parts.map(partView))}
      ${
        questions === undefined
          ? nothing
          : html`<form class="questions" @submit=${this.#onSubmit}>
              ${questionForm(questions, {
                id: `question-${whole.request_id}`,
                filled: this.filled,
                isDisabled: this.isSending,
                fill: (question, filled) => {
                  this.filled = new Map(this.filled).set(question.id, filled);
                },
              })}
              <button class="hidden-submit visually-hidden" type="submit" tabindex="-1" aria-hidden="true">Answer</button>
            </form>`
      }
      ${this.isDeclining ? this.#decline() : this.#choices(whole)}
      ${guard([whole], () => detailsView(whole))}
      ${this.isSending ? html`<p class="card-note" role="status">Sending…</p>` : nothing}
      ${this.problem === "" ? nothing : html`<p class="error-text" role="alert">${this.problem}</p>`}
    `;
  }

  #choices(whole: RequestRow): unknown {
    const cannot = this.isSending || this.readyAtMs === NEVER;
    const { questions } = whole.payload;
    const isFilled = questions === undefined || readAnswers(questions, this.filled) !== undefined;
    return html`<div class="card-choices" role="group" aria-label="Choices">
      ${toRequestCard(whole).choices.map(({ choice, isAnswer, label, meaning, notes }, at) => {
        const { key } = CARD_KEYS[choice.decision];
        const kind = choice.decision === "accept" ? "primary" : choice.decision === "cancel" ? "danger" : "";
        return html`<div class="choice-row">
          <button
            type="button"
            class="choice ${kind}"
            data-decision=${choice.decision}
            data-option=${choice.option ?? nothing}
            ?disabled=${cannot || (isAnswer && !isFilled)}
            @click=${(event: MouseEvent) => this.#onChoice(event, choice)}
          >
            <kbd>${choice.option === undefined ? key : at + 1}</kbd><span>${label}</span>
          </button>
          <div class="choice-notes">
            ${isAnswer ? nothing : html`<span class="choice-meaning">${meaning}</span>`}${notes.map(partView)}
          </div>
        </div>`;
      })}
    </div>`;
  }

  #decline(): unknown {
    const id = `decline-${this.request.request_id}`;
    return html`<div class="card-decline">
      <label for=${id}>Reason (optional, sent to the agent)</label>
      <textarea id=${id} rows="2" @keydown=${this.#onReasonKey}></textarea>
      <div class="card-choices">
        <button type="button" class="choice danger" data-decision="decline" ?disabled=${this.isSending} @click=${() => this.#sendDecline()}>
          Decline
        </button>
        <button type="button" class="quiet" @click=${() => this.#back()}>Back</button>
      </div>
    </div>`;
  }

  /** Enter and Space on a button are clicks too; the time of the event counts. */
  #isTooEarly(event: Event): boolean {
    return event.timeStamp < this.readyAtMs;
  }

  #onChoice(event: Event, choice: Choice): void {
    if (this.#isTooEarly(event)) return;
    this.#take(choice);
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    const isField = event.target instanceof Element && event.target.closest("input, textarea") !== null;
    if (isField || this.request.status !== "pending" || this.isDeclining) return;
    if (event.key === "Escape") {
      (document.activeElement as HTMLElement | null)?.blur();
      return;
    }
    if (event.key === DETAILS_KEY || /^[1-9]$/.test(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      this.#show(event.key);
      return;
    }
    // Also keys of choices this request does not have: on a card they must not mean anything else.
    if (!Object.values(CARD_KEYS).some(({ key }) => key === event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    // Choices with an option have no letter.
    const choice = this.whole?.payload.choices.find(
      ({ decision, option }) => option === undefined && CARD_KEYS[decision].key === event.key,
    );
    if (choice !== undefined && !this.#isTooEarly(event)) this.#take(choice);
  };

  /** A number only selects a choice: broader ones have no letter, so that nobody grants more by habit. */
  #show(key: string): void {
    if (key !== DETAILS_KEY) {
      this.querySelectorAll<HTMLElement>(".choice-row > .choice")[Number(key) - 1]?.focus();
      return;
    }
    const details = this.querySelector<HTMLDetailsElement>(".card-details");
    details?.toggleAttribute("open");
    if (details?.open) details.scrollIntoView({ block: "nearest" });
  }

  #take(choice: Choice): void {
    const { decision } = choice;
    const questions = this.whole?.payload.questions;
    if (decision === "accept" && questions !== undefined) {
      const answers = readAnswers(questions, this.filled);
      if (answers === undefined) this.problem = "Answer every question.";
      else void this.#respond({ answers });
    } else if (decision === "decline" && choice.takes?.includes("message")) {
      this.isDeclining = true;
      void this.updateComplete.then(() => this.#reason?.focus());
    } else void this.#respond(answerFor(choice));
  }

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    if (!this.#isTooEarly(event)) this.#take({ decision: "accept" });
  };

  readonly #onReasonKey = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!event.repeat) this.#sendDecline();
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#back();
    }
  };

  get #reason(): HTMLTextAreaElement | null {
    return this.querySelector(".card-decline textarea");
  }

  #back(): void {
    this.isDeclining = false;
    this.querySelector<HTMLElement>(".card")?.focus();
  }

  #sendDecline(): void {
    const message = this.#reason?.value.trim() ?? "";
    void this.#respond({ decision: "decline", ...(message === "" ? {} : { message }) });
  }

  async #respond(answer: Answer): Promise<void> {
    if (this.whole === undefined || this.isSending) return;
    const { session_id, request_id, shown_hash } = this.whole;
    this.isSending = true;
    this.problem = "";
    try {
      const { request, repeated, notice } = await this.app.api.respond(session_id, request_id, answer, {
        shown_hash,
        source: "web",
      });
      this.dispatchEvent(new CustomEvent("request-settled", { detail: request, bubbles: true }));
      if (notice !== undefined) this.app.notify("warn", notice);
      if (repeated) this.app.notify("warn", `Already answered: ${describeOutcome(request)}.`);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      if (readErrno(error) === "request_changed") void this.#readWhole();
    } finally {
      this.isSending = false;
    }
  }

  async #readWhole(): Promise<void> {
    const { session_id, request_id } = this.request;
    try {
      const whole = await this.app.api.request(session_id, request_id);
      if (this.request.request_id === request_id) this.whole = whole;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }
}

customElements.define("x-request", RequestElement);
