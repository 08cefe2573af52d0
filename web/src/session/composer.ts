// The message composer. A message never answers a request: while one is pending, sending is disabled. Drafts are kept per
// session and survive a reload.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import type { App } from "../app-types.ts";
import { maySend } from "./may-send.ts";

const DRAFT = "blemees.draft.";
const MAX_ROWS = 12;

export class ComposerElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    isWorking: { attribute: false },
    isBlocked: { attribute: false },
    isOffline: { attribute: false },
    said: { attribute: false },
    isSending: { state: true },
    problem: { state: true },
    text: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  declare isWorking: boolean;
  /** A request is pending. */
  declare isBlocked: boolean;
  declare isOffline: boolean;
  /** Previous messages, oldest first. */
  declare said: () => readonly string[];
  declare isSending: boolean;
  declare problem: string;
  declare text: string;
  /** Position in the message history, and the draft before it. */
  #recall: { said: readonly string[]; at: number; draft: string } | undefined;

  constructor() {
    super();
    this.said = () => [];
    this.isSending = false;
    this.problem = "";
    this.text = "";
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override willUpdate(changed: PropertyValues): void {
    if (!changed.has("sessionId")) return;
    this.text = sessionStorage.getItem(DRAFT + this.sessionId) ?? "";
    this.problem = "";
    this.#recall = undefined;
  }

  override render(): unknown {
    const [cannot, cannotNow] = [!maySend(this, false), !maySend(this, true)];
    return html`<form class="composer" data-disabled=${this.isBlocked} @submit=${this.#onSubmit}>
      <label class="visually-hidden" for="composer-text">Message to the agent</label>
      <textarea
        class="composer-text"
        id="composer-text"
        rows=${Math.min(MAX_ROWS, Math.max(1, this.text.split("\n").length))}
        placeholder=${this.isWorking ? "Queue a follow-up…" : "Message…"}
        aria-describedby="composer-hint"
        autocomplete="off"
        .value=${this.text}
        @input=${this.#onInput}
        @keydown=${this.#onKey}
      ></textarea>
      <div class="composer-foot">
        <p class="composer-hint" id="composer-hint">${this.#hint()}</p>
        <div class="composer-actions">
          ${
            this.isWorking
              ? html`<button type="button" class="quiet" title="Stop the turn (Shift+X)" @click=${() => this.#dispatch("interrupt")}>Interrupt</button>
                  <button type="button" ?disabled=${cannotNow} title="Stop the turn and send this message (Ctrl+Enter)" @click=${() => void this.#send(true)}>Send now</button>`
              : nothing
          }
          <button type="submit" class="primary" ?disabled=${cannot}>${this.isWorking ? "Queue" : "Send"}</button>
        </div>
      </div>
      ${this.problem === "" ? nothing : html`<p class="error-text" role="alert">${this.problem}</p>`}
    </form>`;
  }

  focusText(): void {
    this.#area?.focus();
  }

  get #area(): HTMLTextAreaElement | null {
    return this.querySelector("textarea");
  }

  #hint(): unknown {
    if (this.isBlocked)
      return html`Answer the pending request before sending a message.
        <button type="button" class="link-button" @click=${() => this.#dispatch("answer")}>Go to request</button> <kbd>a</kbd>`;
    if (this.isSending) return "Sending…";
    if (this.isOffline) return "The daemon is not responding; your draft is saved.";
    return html`<kbd>Enter</kbd> to ${this.isWorking ? "queue" : "send"}, <kbd>Shift-Enter</kbd> for a new line`;
  }

  #dispatch(what: "interrupt" | "answer"): void {
    this.dispatchEvent(new CustomEvent("composer-act", { detail: what, bubbles: true }));
  }

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    void this.#send(false);
  };

  readonly #onInput = (event: Event): void => {
    this.#recall = undefined;
    this.#keep((event.currentTarget as HTMLTextAreaElement).value);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    // Enter that ends an IME composition; Safari reports it only by key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!event.repeat) void this.#send((event.ctrlKey || event.metaKey) && this.isWorking);
    } else if (event.key === "Escape") {
      (event.currentTarget as HTMLElement).blur();
    } else if (
      (event.key === "ArrowUp" || event.key === "ArrowDown") &&
      this.#step(event.key === "ArrowUp" ? -1 : 1)
    ) {
      event.preventDefault();
    }
  };

  /** Steps through the message history, from the first line up and the last line down. */
  #step(by: -1 | 1): boolean {
    const area = this.#area;
    if (area === null || area.selectionStart !== area.selectionEnd) return false;
    const beside = by < 0 ? area.value.slice(0, area.selectionStart) : area.value.slice(area.selectionEnd);
    if (beside.includes("\n")) return false;
    if (this.#recall === undefined && by > 0) return false;
    const recall = this.#recall ?? this.#startRecall();
    const at = recall.at + by;
    if (at < 0 || at > recall.said.length) return false;
    this.#recall = at === recall.said.length ? undefined : { ...recall, at };
    this.#keep(recall.said[at] ?? recall.draft);
    return true;
  }

  #startRecall(): { said: readonly string[]; at: number; draft: string } {
    const said = this.said();
    return { said, at: said.length, draft: this.text };
  }

  #keep(text: string): void {
    this.text = text;
    this.problem = "";
    if (text === "") sessionStorage.removeItem(DRAFT + this.sessionId);
    else sessionStorage.setItem(DRAFT + this.sessionId, text);
  }

  async #send(isNow: boolean): Promise<void> {
    const { sessionId, text } = this;
    if (!maySend(this, isNow)) return;
    this.isSending = true;
    this.problem = "";
    this.#recall = undefined;
    // Cleared for the next message; the draft is kept until the daemon has it.
    this.text = "";
    try {
      await this.app.api.input(sessionId, isNow ? { text, now: true } : { text });
      if (sessionStorage.getItem(DRAFT + sessionId) === text) sessionStorage.removeItem(DRAFT + sessionId);
      this.dispatchEvent(new CustomEvent("composer-sent", { bubbles: true }));
    } catch (error) {
      this.#keep(this.text === "" ? text : `${text}\n${this.text}`);
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.isSending = false;
    }
  }
}

customElements.define("x-composer", ComposerElement);
