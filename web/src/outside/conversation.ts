// <x-conversation>: one conversation that was started outside, read-only, with a button that continues it as a session.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { defined } from "../../../src/base/values.ts";
import type { TranscriptPage, TranscriptView } from "../../../src/client/http/types.ts";
import type { Entry, View } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../src/client/view.ts";
import type { App } from "../app-types.ts";
import type { EntryContext } from "../session/entry-view.ts";
import "../session/feed.ts";
import { FeedItems, type Folds, isOpen } from "../session/items.ts";
import { Place } from "../session/place.ts";

/** Events read at once, from the end. */
const PAGE = 500;
/** To read on from a place: at once, and shown before it. */
const MAX_PAGE = 2_000;
const BEFORE = 100;

class ConversationElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    agent: { attribute: false },
    atSeq: { attribute: false },
    about: { state: true },
    events: { state: true },
    isBusy: { state: true },
    trouble: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  declare agent: string | undefined;
  /** The event to scroll to. */
  declare atSeq: number | undefined;
  declare about: TranscriptView | undefined;
  declare events: TranscriptPage["events"] | undefined;
  declare isBusy: boolean;
  declare trouble: string;
  #folds: Folds = new Map();
  #view: { events: TranscriptPage["events"]; view: View } | undefined;
  readonly #items = new FeedItems();
  readonly #place = new Place(() => this.atSeq);

  constructor() {
    super();
    this.isBusy = false;
    this.trouble = "";
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override firstUpdated(): void {
    void this.#try(async () => {
      const agent = defined({ agent: this.agent });
      const [about, events] = await Promise.all([
        this.app.api.transcript(this.sessionId, agent),
        this.#readFirst(agent),
      ]);
      this.about = about;
      this.events = events;
    });
  }

  protected override updated(): void {
    const { events, atSeq } = this;
    if (events === undefined || atSeq === undefined) return;
    const items = this.#items.of(this.#entries(events), this.#folds);
    if (this.#view !== undefined) this.#place.show(this.#view.view, items, this.querySelector("x-feed"));
  }

  /** The end; or everything from a little before the place. */
  async #readFirst(agent: { agent?: string }): Promise<TranscriptPage["events"]> {
    const read = (query: object) => this.app.api.transcriptEvents(this.sessionId, { ...agent, ...query });
    if (this.atSeq === undefined) return (await read({ tail: true, limit: PAGE })).events;
    const events: TranscriptPage["events"] = [];
    for (let since_seq = Math.max(0, this.atSeq - BEFORE), isEnd = false; !isEnd; ) {
      const page = await read({ since_seq, limit: MAX_PAGE });
      events.push(...page.events);
      since_seq = page.next_seq;
      isEnd = page.is_end;
    }
    return events;
  }

  protected override render(): TemplateResult {
    const { app, about, events } = this;
    return html`<header class="session-head">
        <h1 class="session-title">${about === undefined ? this.sessionId.slice(0, 8) : sanitizeLine(about.title ?? about.session_id)}</h1>
        <span class="session-sub">${about === undefined ? nothing : describe(about)}</span>
        <div class="session-actions" role="group" aria-label="Conversation">
          <a class="action button quiet" href=${app.href({ name: "outside" })}>All started outside</a>
          <button
            class="action primary"
            type="button"
            ?disabled=${about === undefined || this.isBusy || about.open_in_pid !== undefined}
            @click=${this.#continue}
          >
            Continue here
          </button>
        </div>
      </header>
      ${
        about?.open_in_pid === undefined
          ? nothing
          : html`<p class="banner" role="status">It is open in process ${about.open_in_pid}. End that to continue it here.</p>`
      }
      ${this.trouble === "" ? nothing : html`<p class="error-text outside-trouble" role="alert">${this.trouble}</p>`}
      ${
        events === undefined
          ? html`<p class="empty">${this.trouble === "" ? html`<span class="spinner"></span>` : nothing}</p>`
          : html`<x-feed .items=${this.#items.of(this.#entries(events), this.#folds)} .context=${this.#context()} .earlier=${this.#earlier(events)}></x-feed>`
      }`;
  }

  /** From the first event that was read. */
  #entries(events: TranscriptPage["events"]): readonly Entry[] {
    if (this.#view?.events !== events) {
      const inputs = events.map(({ seq, frame, type }) => ({
        kind: "frame" as const,
        seq,
        frame: { ...frame, type },
      }));
      this.#view = { events, view: applyInputs(emptyView(), inputs) };
    }
    return this.#view.view.entries;
  }

  #context(): EntryContext {
    return {
      folds: this.#folds,
      toggle: (entry: Entry) => {
        const isNow = entry.kind === "user" ? this.#folds.get(entry.id) === true : isOpen(entry, this.#folds);
        this.#folds = new Map(this.#folds).set(entry.id, !isNow);
        this.requestUpdate();
      },
      nowMs: this.about?.last_active_at_ms ?? 0,
      found: undefined,
    };
  }

  #earlier(events: TranscriptPage["events"]): unknown {
    const first = events[0]?.seq ?? 1;
    if (first <= 1) return nothing;
    return html`<button class="quiet" type="button" ?disabled=${this.isBusy} @click=${() => void this.#readEarlier(events, first)}>
      ${this.isBusy ? "Loading…" : "Load earlier"}
    </button>`;
  }

  async #readEarlier(events: TranscriptPage["events"], first: number): Promise<void> {
    const since_seq = Math.max(0, first - 1 - PAGE);
    await this.#try(async () => {
      const query = { ...defined({ agent: this.agent }), since_seq, limit: first - 1 - since_seq };
      const page = await this.app.api.transcriptEvents(this.sessionId, query);
      this.events = [...page.events.filter(({ seq }) => seq !== null && seq < first), ...events];
    });
  }

  readonly #continue = async (): Promise<void> => {
    const { about } = this;
    if (about === undefined) return;
    await this.#try(async () => {
      const { session } = await this.app.api.spawn({ backend: about.backend, transcript: about.session_id });
      this.app.navigate({ name: "session", session_id: session.session_id });
    });
  };

  async #try(act: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    this.trouble = "";
    try {
      await act();
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    } finally {
      this.isBusy = false;
    }
  }
}

function describe({ provider, model, project, cwd }: TranscriptView): string {
  const place = project ?? cwd;
  return sanitizeLine([provider, model, place].filter((part) => part !== undefined).join(" · "));
}

customElements.define("x-conversation", ConversationElement);
