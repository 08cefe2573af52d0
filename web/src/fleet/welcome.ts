// <x-welcome>: shown if there are no sessions: a demo, and how to start an agent.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import type { StatusReply } from "../../../src/client/http/types.ts";
import { INSTALLABLE } from "../../../src/client/view/installable.ts";
import { readStatus } from "../api/client.ts";
import type { App } from "../app-types.ts";
import { icon } from "../icons.ts";
import { installable } from "../spawn/installable.ts";

class WelcomeElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    status: { state: true },
    isBusy: { state: true },
  };
  declare app: App | undefined;
  declare status: StatusReply | undefined;
  declare isBusy: boolean;

  constructor() {
    super();
    this.isBusy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override firstUpdated(): void {
    const { app } = this;
    if (app === undefined) return;
    readStatus(app.api).then(
      (status) => {
        this.status = status;
      },
      (error: unknown) => app.fail(error),
    );
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, status } = this;
    if (app === undefined) return nothing;
    const agents = Object.keys(status?.backends ?? {}).filter((name) => name !== "demo");
    return html`<div class="welcome-inner">
      <h1>No sessions yet</h1>
      <p>This page shows every coding agent on this machine: what it is doing, and what it needs from you.</p>
      <button type="button" class="primary big" ?disabled=${this.isBusy} @click=${this.#try}>
        ${this.isBusy ? html`<span class="spinner"></span>` : icon("play")} Try the demo
      </button>
      <p class="faint">
        A built-in agent asks for permission to run a command, and you approve or decline. Nothing is executed. No account
        needed, no cost.
      </p>
      <div class="welcome-real">
        <h2>Start a real agent</h2>
        ${
          status !== undefined && agents.length === 0
            ? html`<p>
                No agents found. Install ${installable()} on the daemon’s PATH, then restart the daemon.
              </p>`
            : html`<p class="welcome-start">
                  <a class="button" href=${app.href({ name: "new" })}>${icon("plus")}New session</a>
                  <span class="faint">${agents.length === 0 ? "" : `Found: ${agents.join(", ")}`}</span>
                </p>
                <p>
                  Or continue one that was
                  <a href=${app.href({ name: "outside" })}>started outside</a>, or in a terminal:
                </p>
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
