// The message composer. A message never answers a request: while one is pending, sending is disabled. Drafts are kept per
// session and survive a reload.
import { html, LitElement, nothing, type PropertyValues } from "lit";
import type { InputBody } from "../../../src/client/http/types.ts";
import type { App } from "../app-types.ts";
import { AgentCommands } from "./commands.ts";
import { COMPLETION_ID, Completer, completionList } from "./completer.ts";
import { type Picture, readPictures, toInput } from "./images.ts";
import { maySend } from "./may-send.ts";

/** Absent: the message is queued. */
type Delivery = Pick<InputBody, "now" | "delivery">;

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
    pictures: { state: true },
    isDropTarget: { state: true },
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
  /** Sent with the text. Unlike the text, they are not kept when the page is left. */
  declare pictures: readonly Picture[];
  /** Files are being dragged over the page. */
  declare isDropTarget: boolean;
  #listening: AbortController | undefined;
  /** Files are read one drop after the other, so that together they keep to the limits. */
  #reading: Promise<void> = Promise.resolve();
  /** Position in the message history, and the draft before it. */
  #recall: { said: readonly string[]; at: number; draft: string } | undefined;

  readonly #commands = new AgentCommands((session_id) => this.app.api.settings(session_id));
  readonly #completer = new Completer({
    findFiles: (match) => this.app.api.files(this.sessionId, { match }),
    listCommands: () => this.#commands.list(this.sessionId),
    changed: () => this.requestUpdate(),
  });

  constructor() {
    super();
    this.said = () => [];
    this.isSending = false;
    this.problem = "";
    this.text = "";
    this.pictures = [];
    this.isDropTarget = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    // On the whole page: a file that is dropped beside the field would replace the page.
    addEventListener("dragover", this.#onDrag, { signal });
    addEventListener("dragleave", this.#onDrag, { signal });
    addEventListener("drop", this.#onDrop, { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listening?.abort();
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override willUpdate(changed: PropertyValues): void {
    if (!changed.has("sessionId")) return;
    this.text = sessionStorage.getItem(DRAFT + this.sessionId) ?? "";
    this.problem = "";
    this.pictures = [];
    this.#recall = undefined;
  }

  override render(): unknown {
    const completer = this.#completer;
    const [cannot, cannotNow] = [!this.#maySend(false), !this.#maySend(true)];
    return html`<form class="composer ${this.isDropTarget ? "is-drop" : ""}" data-disabled=${this.isBlocked} @submit=${this.#onSubmit}>
      <label class="visually-hidden" for="composer-text">Message to the agent</label>
      ${completionList(completer, (at) => this.#take(at))} ${pictureList(this.pictures, (picture) => this.#removePicture(picture))}
      <textarea
        class="composer-text"
        id="composer-text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded=${completer.isOpen ? "true" : "false"}
        aria-controls=${COMPLETION_ID}
        aria-activedescendant=${completer.isOpen ? `${COMPLETION_ID}-${completer.marked}` : nothing}
        rows=${Math.min(MAX_ROWS, Math.max(1, this.text.split("\n").length))}
        placeholder=${this.isWorking ? "Queue a follow-up…" : "Message…"}
        aria-describedby="composer-hint"
        autocomplete="off"
        .value=${this.text}
        @input=${this.#onInput}
        @keydown=${this.#onKey}
        @click=${this.#onCursor}
        @paste=${this.#onPaste}
        @blur=${() => this.#completer.close()}
      ></textarea>
      <div class="composer-foot">
        <p class="composer-hint" id="composer-hint">${this.#hint()}</p>
        <div class="composer-actions">
          ${
            this.isBlocked
              ? nothing // a small window has no room for it beside a request
              : html`<label class="button quiet attach" title="Images can also be pasted and dropped">
                  Attach image<input class="visually-hidden" type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple @change=${this.#onChoose} />
                </label>`
          }
          ${
            this.isWorking
              ? html`<button type="button" class="quiet" title="Stop the turn (Shift+X)" @click=${() => this.#dispatch("interrupt")}>Interrupt</button>
                  <button type="button" ?disabled=${cannotNow} title="Stop the turn and send this message (Ctrl+Enter)" @click=${() => void this.#send({ now: true })}>Send now</button>
                  <button type="button" ?disabled=${cannot} title="Add this message to the running turn (Alt+Enter)" @click=${() => void this.#send({ delivery: "steer" })}>Steer</button>`
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

  #maySend(isNow: boolean): boolean {
    const text = this.pictures.length > 0 ? `${this.text}[image]` : this.text;
    return maySend({ text, isSending: this.isSending, isBlocked: this.isBlocked }, isNow);
  }

  readonly #onDrag = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    this.isDropTarget = event.type === "dragover";
  };

  readonly #onDrop = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    this.isDropTarget = false;
    this.#addFiles([...event.dataTransfer.files]);
  };

  /** Text that comes with an image, as from a spreadsheet, is pasted as text. */
  readonly #onPaste = (event: ClipboardEvent): void => {
    const { clipboardData } = event;
    if (clipboardData === null || clipboardData.files.length === 0) return;
    if (clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    this.#addFiles([...clipboardData.files]);
  };

  readonly #onChoose = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const files = [...(input.files ?? [])];
    // So that choosing the same file again is a change.
    input.value = "";
    this.#addFiles(files);
    this.focusText();
  };

  #addFiles(files: readonly File[]): void {
    const { sessionId } = this;
    this.#reading = this.#reading.then(async () => {
      const { pictures, problem } = await readPictures(files, this.pictures);
      if (this.sessionId !== sessionId) return;
      this.pictures = [...this.pictures, ...pictures];
      this.problem = problem;
    });
  }

  #removePicture(picture: Picture): void {
    this.pictures = this.pictures.filter((each) => each !== picture);
    this.problem = "";
    this.focusText();
  }

  #dispatch(what: "interrupt" | "answer"): void {
    this.dispatchEvent(new CustomEvent("composer-act", { detail: what, bubbles: true }));
  }

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    void this.#send({});
  };

  readonly #onInput = (event: Event): void => {
    this.#recall = undefined;
    this.#keep((event.currentTarget as HTMLTextAreaElement).value);
    this.#onCursor();
  };

  readonly #onCursor = (): void => {
    const area = this.#area;
    if (area !== null) this.#completer.follow(area.value, area.selectionStart);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    // Enter that ends an IME composition; Safari reports it only by key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (this.#completer.isOpen && this.#complete(event)) return;
    if (event.key === "Enter" && !event.shiftKey && (!event.altKey || this.isWorking)) {
      event.preventDefault();
      if (!event.repeat) void this.#send(this.#readDelivery(event));
    } else if (event.key === "Escape") {
      (event.currentTarget as HTMLElement).blur();
    } else if (
      (event.key === "ArrowUp" || event.key === "ArrowDown") &&
      this.#step(event.key === "ArrowUp" ? -1 : 1)
    ) {
      event.preventDefault();
    }
  };

  /** Keys of the list of completions. */
  #complete(event: KeyboardEvent): boolean {
    const { key } = event;
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (key === "ArrowUp" || key === "ArrowDown") this.#completer.move(key === "ArrowUp" ? -1 : 1);
    else if (key === "Escape") this.#completer.close();
    else if (key !== "Tab" && key !== "Enter") return false;
    else if (!this.#take()) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Puts the completion into the text. */
  #take(at?: number): boolean {
    const area = this.#area;
    const next = area === null ? undefined : this.#completer.take(area.value, at);
    if (area === null || next === undefined) return false;
    this.#keep(next.text);
    void this.updateComplete.then(() => {
      area.setSelectionRange(next.cursor, next.cursor);
      this.#onCursor();
    });
    return true;
  }

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

  #readDelivery({ altKey, ctrlKey, metaKey }: KeyboardEvent): Delivery {
    if (!this.isWorking) return {};
    if (altKey) return { delivery: "steer" };
    return ctrlKey || metaKey ? { now: true } : {};
  }

  async #send(how: Delivery): Promise<void> {
    const { sessionId, text, pictures } = this;
    if (!this.#maySend(how.now === true)) return;
    this.isSending = true;
    this.problem = "";
    this.#recall = undefined;
    // Cleared for the next message; the draft is kept until the daemon has it.
    this.text = "";
    this.pictures = [];
    try {
      const { note } = await this.app.api.input(sessionId, { ...toInput(text, pictures), ...how });
      if (note !== undefined) this.app.notify("info", note);
      if (sessionStorage.getItem(DRAFT + sessionId) === text) sessionStorage.removeItem(DRAFT + sessionId);
      this.dispatchEvent(new CustomEvent("composer-sent", { bubbles: true }));
    } catch (error) {
      this.#keep(this.text === "" ? text : `${text}\n${this.text}`);
      this.pictures = [...pictures, ...this.pictures];
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.isSending = false;
    }
  }
}

function pictureList(pictures: readonly Picture[], remove: (picture: Picture) => void): unknown {
  if (pictures.length === 0) return nothing;
  return html`<ul class="pictures" aria-label="Attached images">
    ${pictures.map(
      (picture) => html`<li class="picture">
        <img alt=${picture.name} title=${picture.name} src=${`data:${picture.media_type};base64,${picture.data}`} />
        <button class="picture-remove" type="button" aria-label=${`Remove ${picture.name}`} @click=${() => remove(picture)}>×</button>
      </li>`,
    )}
  </ul>`;
}

customElements.define("x-composer", ComposerElement);
