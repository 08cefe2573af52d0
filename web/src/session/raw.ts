// The stored events of an entry.
import { html, LitElement, nothing } from "lit";
import { sanitizeJson } from "../../../src/base/sanitize.ts";
import type { EventView } from "../../../src/protocol/views.ts";
import type { App } from "../app-types.ts";
import { copyButton } from "./copy.ts";

const COUNT = 20;
const MAX_CHARS = 200_000;

export class RawElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    events: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  declare events: readonly EventView[] | undefined;

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  async show(seq: number): Promise<void> {
    try {
      const { signal } = new AbortController();
      const page = await this.app.api.events(this.sessionId, { since_seq: seq - 1, limit: COUNT, signal });
      this.events = page.events;
      await this.updateComplete;
      const dialog = this.querySelector("dialog");
      if (dialog !== null && !dialog.open) dialog.showModal();
    } catch (error) {
      this.app.fail(error);
    }
  }

  override render(): unknown {
    if (this.events === undefined) return nothing;
    const json = this.events.map((event) => JSON.stringify(event, null, 2)).join("\n");
    const { seq = 0 } = this.events[0] ?? {};
    return html`<dialog class="dialog raw" aria-labelledby="raw-title" @close=${() => {
      this.events = undefined;
    }}>
      <h2 class="dialog-title" id="raw-title">Events from #${seq}</h2>
      <pre class="exact" tabindex="0">${sanitizeJson(json.slice(0, MAX_CHARS))}</pre>
      <div class="dialog-actions">
        ${copyButton(() => json, "Copy events")}
        <button class="primary" autofocus @click=${() => this.querySelector("dialog")?.close()}>Close</button>
      </div>
    </dialog>`;
  }
}

customElements.define("x-raw", RawElement);
