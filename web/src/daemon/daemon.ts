// <x-daemon>: the daemon itself: version, agents, the end of its log; restart and stop, each after a confirmation.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { sanitize, sanitizeLine } from "../../../src/base/sanitize.ts";
import type { DaemonLogReply, StatusReply } from "../../../src/client/http/types.ts";
import { formatDuration } from "../../../src/client/view/format.ts";
import type { App } from "../app-types.ts";

const LINES = 200;
const REFRESH_MS = 5_000;
/** Until the next daemon answers. */
const RESTART_MS = 30_000;
const POLL_MS = 300;

class DaemonElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    status: { state: true },
    log: { state: true },
    noLog: { state: true },
    trouble: { state: true },
    doing: { state: true },
  };
  declare app: App | undefined;
  declare status: StatusReply | undefined;
  declare log: DaemonLogReply | undefined;
  /** Why there is no log to show. */
  declare noLog: string;
  declare trouble: string;
  /** What is being done. */
  declare doing: string;
  #readAtMs = 0;
  #end: (() => void) | undefined;

  constructor() {
    super();
    this.noLog = "";
    this.trouble = "";
    this.doing = "";
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
    this.#end = undefined;
  }

  protected override willUpdate(): void {
    if (this.#end !== undefined || this.app === undefined) return;
    this.#end = this.app.clock.subscribe((now) => {
      if (now - this.#readAtMs >= REFRESH_MS && this.doing === "") void this.#read();
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    const { app } = this;
    if (app === undefined) return;
    this.#readAtMs = app.now();
    try {
      this.status = await app.api.status();
      this.trouble = "";
    } catch (error) {
      this.trouble = toText(error);
      return;
    }
    try {
      this.log = await app.api.daemonLog({ lines: LINES });
      this.noLog = "";
    } catch (error) {
      this.noLog = toText(error);
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { status, trouble, doing } = this;
    return html`<header class="page-head">
        <h1>Daemon</h1>
        ${status === undefined ? nothing : this.#actions(status)}
      </header>
      ${trouble === "" ? nothing : html`<p class="error-text" role="alert">${trouble}</p>`}
      ${doing === "" ? nothing : html`<p class="daemon-doing" role="status"><span class="spinner"></span> ${doing}</p>`}
      ${
        status === undefined
          ? trouble === ""
            ? html`<p class="empty"><span class="spinner"></span></p>`
            : nothing
          : html`${facts(status)} ${agents(status)} ${this.#log()}`
      }`;
  }

  #actions({ supervisor }: StatusReply): TemplateResult {
    const isBusy = this.doing !== "";
    return html`<div class="daemon-actions" role="group" aria-label="Daemon">
      ${
        supervisor === undefined
          ? html`<button type="button" ?disabled=${isBusy} @click=${this.#restart}>Restart</button>`
          : html`<span class="faint">Run by ${supervisor.name}; restart it with <code>${sanitizeLine(supervisor.restart)}</code></span>`
      }
      <button type="button" ?disabled=${isBusy} @click=${() => void this.#stop(true)}>Stop, keep agents</button>
      <button type="button" class="danger" ?disabled=${isBusy} @click=${() => void this.#stop(false)}>Stop</button>
    </div>`;
  }

  #log(): TemplateResult {
    const { log, noLog } = this;
    return html`<section class="daemon-log">
      <h2>Log</h2>
      ${noLog === "" ? nothing : html`<p class="faint">${noLog}</p>`}
      ${
        log === undefined
          ? nothing
          : html`<p class="faint">
                ${log.lines.length === 0 ? "Nothing was logged yet to" : `The last ${log.lines.length} lines of`} <code>${sanitizeLine(log.path)}</code>
              </p>
              <pre class="exact" tabindex="0" aria-label="Log">${log.lines.map((line) => `${sanitize(line)}\n`)}</pre>`
      }
    </section>`;
  }

  readonly #restart = async (): Promise<void> => {
    const { app, status } = this;
    if (app === undefined || status === undefined) return;
    const isSure = await app.confirm({
      title: "Restart the daemon?",
      text:
        status.config["event_log_enabled"] === false
          ? "The installed version replaces the running one. Its agents end, because histories are only in memory."
          : "The installed version replaces the running one. Agents keep running, and this page reconnects.",
      action: "Restart",
    });
    if (!isSure) return;
    this.doing = "Restarting…";
    try {
      await app.api.restartDaemon();
      const daemon = await untilReplaced(app, status.pid);
      app.notify("info", `Replaced by ${sanitizeLine(daemon)}.`);
    } catch (error) {
      app.fail(error);
    } finally {
      this.doing = "";
      void this.#read();
    }
  };

  async #stop(leave_agents: boolean): Promise<void> {
    const { app, status } = this;
    if (app === undefined || status === undefined) return;
    const grace = formatDuration(Number(status.config["shutdown_grace_s"] ?? 0) * 1_000);
    const isSure = await app.confirm({
      title: "Stop the daemon?",
      text: leave_agents
        ? "Its agents keep running, and the next daemon continues with them. This page works again when one runs."
        : `Running turns may finish within ${grace}; then all ${status.running_agents} running agents end. Histories and queues are kept. This page works again when a daemon runs.`,
      action: "Stop",
      isDangerous: true,
    });
    if (!isSure) return;
    try {
      await app.api.stopDaemon({ leave_agents });
      this.doing = "Stopping…";
    } catch (error) {
      app.fail(error);
    }
  }
}

/** Polls until a daemon of another process answers; returns its version. */
async function untilReplaced(app: App, pid: number): Promise<string> {
  const endMs = Date.now() + RESTART_MS;
  while (Date.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = await app.api.health().catch(() => undefined);
    if (now !== undefined && now.pid !== pid) return now.daemon;
  }
  throw new Error("The daemon was not replaced; its log says why.");
}

function facts({
  daemon,
  pid,
  uptime_s,
  socket_path,
  state_dir,
  running_agents,
  sessions,
  http,
}: StatusReply): TemplateResult {
  const rows: [string, string][] = [
    ["Version", daemon],
    ["Running for", formatDuration(uptime_s * 1_000)],
    ["Process", String(pid)],
    ["Agents running", String(running_agents)],
    ["Turns running", String(sessions.active_turns)],
    ["HTTP connections", String(http.connections)],
    ["Socket", socket_path],
    ["State", state_dir],
  ];
  return html`<dl class="daemon-facts">
    ${rows.map(([label, text]) => html`<dt>${label}</dt><dd>${sanitizeLine(text)}</dd>`)}
  </dl>`;
}

function agents({ backends }: StatusReply): TemplateResult {
  const rows = Object.entries(backends);
  return html`<section>
    <h2>Agents</h2>
    ${
      rows.length === 0
        ? html`<p class="faint">None found on the daemon’s PATH. Install one, then restart the daemon.</p>`
        : html`<dl class="daemon-facts">
            ${rows.map(([name, version]) => html`<dt>${sanitizeLine(name)}</dt><dd>${sanitizeLine(version)}</dd>`)}
          </dl>`
    }
  </section>`;
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (customElements.get("x-daemon") === undefined) customElements.define("x-daemon", DaemonElement);
