// A request card: the full request and its choices, also for several requests for exactly the same. Its keys work while it
// has the focus, and those that main-app.ts passes on. Input before the user could have seen it is ignored, and so is
// Enter on the card.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { guard } from "lit/directives/guard.js";
import { readErrno, toMessage } from "../../../src/base/coded-error.ts";
import { revealLine, sanitizeLine } from "../../../src/base/sanitize.ts";
import { answerItem, describeOutcomes, makeItemKey, toInboxCard } from "../../../src/client/view/inbox.ts";
import { answerFor, type CardChoice, toRequestCard } from "../../../src/client/view/request-card.ts";
import type { Answer, RequestRow } from "../../../src/client/view/types.ts";
import type { Choice } from "../../../src/protocol/requests.ts";
import type { App } from "../app-types.ts";
import { CARD_KEYS, DETAILS_KEY } from "../keyboard.ts";
import { type Filled, readAnswers } from "./answers.ts";
import { allAskersView, askersView } from "./askers.ts";
import { detailsView, partView } from "./exact.ts";
import { describeOutcome } from "./outcome.ts";
import { questionForm } from "./question-form.ts";
import { isAllInSight, isInSight, listAncestors, uncover } from "./sight.ts";
import "./rule-maker.ts";

/** Choices are disabled this long after the card appears, so that a click meant for something else has no effect. */
const SETTLE_MS = 350;
/** Keys that were not pressed on the card itself have no effect this much longer: they may have been meant for the page. */
const ELSEWHERE_MS = 350;
const NEVER = Number.POSITIVE_INFINITY;

export class RequestElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    request: { attribute: false },
    others: { attribute: false },
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
  /** Further requests for the same, which get the same answer. */
  declare others: readonly RequestRow[];
  declare whole: RequestRow | undefined;
  declare filled: ReadonlyMap<string, Filled>;
  declare isDeclining: boolean;
  declare isSending: boolean;
  declare problem: string;
  /** When the choices were enabled, as an event timestamp. */
  declare readyAtMs: number;
  /** What was shown last: requests and their hashes. */
  #drawnKey = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.others = [];
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
    const key = this.#key;
    if (key === "" || key === this.#drawnKey) return;
    this.readyAtMs = NEVER;
    if (this.#drawnKey === "") return;
    this.problem = this.isSending ? "" : "The request has changed. Review it again.";
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
          ${isPending ? this.#head(whole ?? request) : revealLine(request.payload.title)}
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
    const key = this.#key;
    if (key === "" || key === this.#drawnKey) return;
    this.#drawnKey = key;
    clearTimeout(this.#timer);
    // After the next paint: not visible before.
    requestAnimationFrame(() => {
      this.#timer = setTimeout(() => this.#becomeReady(key), SETTLE_MS);
    });
    const card = this.querySelector<HTMLElement>(".card");
    // A disabled button would keep the focus but get no keys.
    if (card?.contains(document.activeElement)) card.focus();
    card?.dispatchEvent(new CustomEvent("card-drawn", { bubbles: true }));
  }

  #becomeReady(seen: string): void {
    if (seen === this.#drawnKey) this.readyAtMs = performance.now();
  }

  /** The requests that an answer is for, as they are shown. Empty until the first is known in full. */
  get #shown(): readonly RequestRow[] {
    return this.whole === undefined ? [] : [this.whole, ...this.others];
  }

  get #key(): string {
    return makeItemKey({ requests: this.#shown });
  }

  #head(row: RequestRow): unknown {
    return askersView(toInboxCard({ requests: [row, ...this.others] }, this.app.fleet.get().sessions));
  }

  #pending(whole: RequestRow | undefined): unknown {
    if (whole === undefined)
      return html`<p class="card-note">${this.problem || "Loading the full request…"}</p>`;
    const { questions } = whole.payload;
    return html`
      ${guard([whole, this.others], () => {
        const card = toInboxCard({ requests: [whole, ...this.others] }, this.app.fleet.get().sessions);
        return [allAskersView(card), ...[...card.parts, ...card.why].map(partView)];
      })}
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
      ${guard([whole], () => detailsView(whole))} ${this.isDeclining ? this.#decline() : this.#choices(whole)}
      ${this.isSending ? html`<p class="card-note" role="status">Sending…</p>` : nothing}
      ${this.problem === "" ? nothing : html`<p class="error-text" role="alert">${this.problem}</p>`}
    `;
  }

  /** What remembers something is above, with that; the others stay in sight. */
  #choices(whole: RequestRow): unknown {
    const choices = toRequestCard(whole).choices.map((choice, at) => ({ ...choice, at }));
    const broad = choices.filter(({ notes }) => notes.length > 0);
    const plain = choices.filter(({ notes }) => notes.length === 0);
    return html`<div class="card-choices" role="group" aria-label="Choices">
      ${broad.map((choice) => this.#choice(whole, choice))}
      <div class="card-decide">${plain.map((choice) => this.#choice(whole, choice))}</div>
    </div>`;
  }

  #choice(
    whole: RequestRow,
    { choice, at, isAnswer, label, meaning, notes }: CardChoice & { at: number },
  ): unknown {
    const { questions } = whole.payload;
    const isFilled = questions === undefined || readAnswers(questions, this.filled) !== undefined;
    const { decision, option } = choice;
    const kind = decision === "accept" ? "primary" : decision === "cancel" ? "danger" : "";
    const cannot = this.isSending || this.readyAtMs === NEVER || (isAnswer && !isFilled);
    return html`<div class="choice-row">
      <button
        type="button"
        class="choice ${kind}"
        data-decision=${decision}
        data-option=${option ?? nothing}
        data-number=${at + 1}
        ?disabled=${cannot}
        @click=${(event: MouseEvent) => this.#onChoice(event, choice)}
        @focus=${this.#onChoiceFocus}
      >
        <kbd>${option === undefined ? CARD_KEYS[decision].key : at + 1}</kbd><span>${label}</span>
      </button>
      <div class="choice-notes">
        ${isAnswer ? nothing : html`<span class="choice-meaning">${meaning}</span>`}${notes.map(partView)}
      </div>
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

  /** By a key: scrolled under a pointer, the choice would not get its click. */
  readonly #onChoiceFocus = ({ currentTarget }: Event): void => {
    if (currentTarget instanceof Element && currentTarget.matches(":focus-visible")) uncover(currentTarget);
  };

  /** A key that was pressed elsewhere on the page, where nothing takes text. */
  press(event: KeyboardEvent): void {
    const card = this.querySelector<HTMLElement>(".card");
    if (card === null) return;
    event.preventDefault();
    if (event.timeStamp < this.readyAtMs + ELSEWHERE_MS || event.repeat) return;
    // Nothing that is not all in sight is accepted at once: the key only goes to the card, where the next one counts.
    if (isAllInSight(card, event.key === CARD_KEYS.decline.key)) this.#onKey(event);
    else card.scrollIntoView({ block: "nearest" });
    if (this.isConnected && !this.isDeclining) card.focus({ preventScroll: true });
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
    if (choice === undefined || this.#isTooEarly(event)) return;
    // What it would remember has to be seen first.
    const button = this.querySelector<HTMLElement>(
      `.choice[data-decision="${choice.decision}"]:not([data-option])`,
    );
    if (button === null || isInSight(button)) this.#take(choice);
    else button.focus();
  };

  /** A number only selects a choice: broader ones have no letter, so that nobody grants more by habit. */
  #show(key: string): void {
    if (key !== DETAILS_KEY) {
      this.querySelector<HTMLElement>(`.choice[data-number="${key}"]`)?.focus();
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
    const requests = this.#shown;
    if (requests.length === 0 || this.isSending) return;
    this.isSending = true;
    this.problem = "";
    try {
      const outcomes = await answerItem({ requests }, answer, (row) => this.#respondTo(row, answer));
      const problem = outcomes.find((one) => one.problem !== undefined)?.problem ?? "";
      if (requests.length === 1) this.problem = problem;
      else {
        const text = describeOutcomes(outcomes, answer, this.app.fleet.get().sessions);
        this.app.notify(problem === "" ? "info" : "warn", sanitizeLine(text));
      }
    } finally {
      this.isSending = false;
    }
  }

  async #respondTo({ session_id, request_id, shown_hash }: RequestRow, answer: Answer): Promise<void> {
    // The change may arrive before the reply, and remove this card with what is around it.
    const around = listAncestors(this);
    try {
      const how = { shown_hash, source: "web" } as const;
      const { request, repeated, notice } = await this.app.api.respond(session_id, request_id, answer, how);
      const settled = new CustomEvent("request-settled", { detail: request, bubbles: true });
      around.find(({ isConnected }) => isConnected)?.dispatchEvent(settled);
      if (notice !== undefined) this.app.notify("warn", notice);
      if (repeated) this.app.notify("warn", `Already answered: ${describeOutcome(request)}.`);
    } catch (error) {
      if (readErrno(error) === "request_changed") void this.#readWhole();
      throw error;
    }
  }

  async #readWhole(): Promise<void> {
    const { session_id, request_id } = this.request;
    try {
      const whole = await this.app.api.request(session_id, request_id);
      if (this.request.request_id === request_id) this.whole = whole;
    } catch (error) {
      this.problem = toMessage(error);
    }
  }
}

customElements.define("x-request", RequestElement);
