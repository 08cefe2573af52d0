// <x-welcome>: what somebody sees who has no session yet: one button that shows what this is, and how to go on.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { INSTALLABLE } from "../../../src/client/view/installable.ts";
import type { App, DaemonStatus } from "../app-types.ts";
import { icon } from "../icons.ts";
import { installable } from "../spawn/installable.ts";

class WelcomeElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    status: { state: true },
    isBusy: { state: true },
  };
  declare app: App | undefined;
  declare status: DaemonStatus | undefined;
  declare isBusy: boolean;

  constructor() {
    super();
    this.isBusy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override firstUpdated(): void {
    this.app?.api.status().then(
      (status) => {
        this.status = status;
      },
      (error: unknown) => this.app?.fail(error),
    );
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, status } = this;
    if (app === undefined) return nothing;
    const agents = Object.keys(status?.backends ?? {}).filter((name) => name !== "demo");
    return html`<div class="welcome-inner">
      <h1>No agent runs yet</h1>
      <p>Here you see every coding agent on this machine: who works, who waits for you. You answer from here.</p>
      <button type="button" class="primary big" ?disabled=${this.isBusy} @click=${this.#try}>
        ${this.isBusy ? html`<span class="spinner"></span>` : icon("play")} Try the demo
      </button>
      <p class="faint">
        A built-in agent starts and asks whether it may run a command. You read it and answer. It runs nothing, needs no
        account and costs nothing.
      </p>
      <div class="welcome-real">
        <h2>Start a real agent</h2>
        ${
          status !== undefined && agents.length === 0
            ? html`<p>
                None was found. Install one (${installable()}, on the PATH of the daemon), then
                start the daemon again.
              </p>`
            : html`<p class="welcome-start">
                  <a class="button" href=${app.href({ name: "new" })}>${icon("plus")}New session</a>
                  <span class="faint">${agents.length === 0 ? "" : `found: ${agents.join(", ")}`}</span>
                </p>
                <p>or in a terminal:</p>
                <pre class="command">sm spawn ${agents[0] ?? INSTALLABLE[0]} "explain this repository"</pre>`
        }
      </div>
    </div>`;
  }

  readonly #try = async (): Promise<void> => {
    const { app } = this;
    if (app === undefined) return;
    this.isBusy = true;
    try {
      const { session } = await app.api.spawn({ backend: "demo", prompt: "approve", name: "demo" });
      app.navigate({ name: "session", session_id: session.session_id });
    } catch (error) {
      app.fail(error);
    } finally {
      this.isBusy = false;
    }
  };
}

if (customElements.get("x-welcome") === undefined) customElements.define("x-welcome", WelcomeElement);
