// <x-settings>: the model, the permission mode and the effort of a session, where its agent can change them.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { SettingsReply } from "../../../src/client/http/types.ts";
import type { SessionView } from "../../../src/client/view/types.ts";
import type { App } from "../app-types.ts";

type Name = "model" | "permission_mode" | "effort";
type Setting = NonNullable<SettingsReply[Name]>;

const LABELS: Readonly<Record<Name, string>> = { model: "Model", permission_mode: "Mode", effort: "Effort" };
const NAMES: readonly Name[] = ["model", "permission_mode", "effort"];

class SettingsElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    sessionId: { attribute: false },
    version: { attribute: false },
    settings: { state: true },
    isBusy: { state: true },
  };
  declare app: App;
  declare sessionId: string;
  /** Read again when it differs: what the session says of its settings. */
  declare version: string;
  declare settings: SettingsReply | undefined;
  declare isBusy: boolean;

  constructor() {
    super();
    this.version = "";
    this.isBusy = false;
  }

  override createRenderRoot(): HTMLElement {
    this.style.display = "contents";
    return this;
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("sessionId") || changed.has("version")) void this.#read();
  }

  async #read(): Promise<void> {
    const { sessionId } = this;
    try {
      const settings = await this.app.api.settings(sessionId);
      if (this.sessionId === sessionId) this.settings = settings;
    } catch {
      // The session is gone, or the daemon is older: nothing can be changed.
      this.settings = undefined;
    }
  }

  override render(): TemplateResult | typeof nothing {
    const { settings } = this;
    if (settings === undefined || NAMES.every((name) => !isOffered(settings[name]))) return nothing;
    return html`<div class="session-settings" role="group" aria-label="Settings of the agent">
      ${NAMES.map((name) => {
        const setting = settings[name];
        return isOffered(setting) ? this.#choice(name, setting) : nothing;
      })}
    </div>`;
  }

  #choice(name: Name, { current = "", values }: Setting): TemplateResult {
    const isKnown = values.some(({ value }) => value === current);
    const options = isKnown
      ? values
      : [{ value: current, name: current === "" ? "unknown" : current }, ...values];
    // Not `value` of the select: it is set before the options, and is blank if its option is new.
    return html`<label>
      <span>${LABELS[name]}</span>
      <select ?disabled=${this.isBusy} @change=${(event: Event) => void this.#set(name, event.currentTarget as HTMLSelectElement)}>
        ${options.map(
          (option) =>
            html`<option value=${option.value} .selected=${live(option.value === current)}>${sanitizeLine(option.name ?? option.value)}</option>`,
        )}
      </select>
    </label>`;
  }

  async #set(name: Name, select: HTMLSelectElement): Promise<void> {
    const { value } = select;
    const option = this.settings?.[name]?.values.find((one) => one.value === value);
    const before = this.settings?.[name]?.current ?? "";
    const isSure =
      name !== "permission_mode" || (await this.#confirm(option?.name ?? value, option?.description));
    if (!isSure) {
      select.value = before;
      return;
    }
    this.isBusy = true;
    try {
      this.settings = await this.app.api.adjust(this.sessionId, { [name]: value });
    } catch (error) {
      select.value = before;
      this.app.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  /** It decides what the agent may do without asking. */
  #confirm(mode: string, description: string | undefined): Promise<boolean> {
    return this.app.confirm({
      title: `Change the permission mode to “${sanitizeLine(mode)}”?`,
      text: sanitizeLine(description ?? "It decides what the agent may do without asking."),
      action: "Change",
    });
  }
}

/** Read again when the session reports other settings, or its agent starts. */
export function settingsView(app: App, session: SessionView | undefined): TemplateResult | typeof nothing {
  if (session === undefined) return nothing;
  const { session_id, model, permission_mode, running } = session;
  const version = `${model} ${permission_mode} ${running}`;
  return html`<x-settings .app=${app} .sessionId=${session_id} .version=${version}></x-settings>`;
}

function isOffered(setting: Setting | undefined): setting is Setting {
  return setting !== undefined && setting.values.length > 0;
}

customElements.define("x-settings", SettingsElement);
