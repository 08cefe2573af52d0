// <x-spawn>: the form for a new session.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { StatusReply } from "../../../src/client/http/types.ts";
import { getSessionName } from "../../../src/client/view/format.ts";
import { readStatus } from "../api/client.ts";
import type { App } from "../app-types.ts";
import { icon } from "../icons.ts";
import {
  checkForm,
  EMPTY_FORM,
  type Errors,
  type Field,
  findErrorField,
  knownDirectories,
  knownModels,
  readRemembered,
  type SpawnForm,
  toSpawnBody,
} from "./form.ts";
import { installable } from "./installable.ts";
import { readKept, writeKept } from "./kept.ts";

class SpawnElement extends LitElement {
  static override properties = {
    app: { attribute: false },
    form: { state: true },
    errors: { state: true },
    trouble: { state: true },
    status: { state: true },
    isBusy: { state: true },
  };
  declare app: App | undefined;
  declare form: SpawnForm;
  declare errors: Errors;
  declare trouble: string | undefined;
  declare status: StatusReply | undefined;
  declare isBusy: boolean;

  constructor() {
    super();
    this.form = EMPTY_FORM;
    this.errors = {};
    this.isBusy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
  }

  protected override firstUpdated(): void {
    const { app } = this;
    if (app === undefined) return;
    const kept = readRemembered(readKept());
    const [cwd = ""] = knownDirectories(app.fleet.get().sessions.values());
    this.#set({ cwd: kept.cwd ?? cwd, approvals: kept.approvals ?? true });
    readStatus(app.api).then(
      (status) => {
        this.status = status;
        const found = Object.keys(withDemo(status.backends));
        this.#choose(
          found.find((name) => name === kept.backend) ??
            found.find((name) => name !== "demo") ??
            found[0] ??
            "",
        );
      },
      (error: unknown) => {
        this.trouble = error instanceof Error ? error.message : String(error);
      },
    );
    this.updateComplete.then(
      () => this.querySelector<HTMLElement>("textarea")?.focus(),
      () => undefined,
    );
  }

  protected override render(): TemplateResult | typeof nothing {
    const { app, form, status } = this;
    if (app === undefined) return nothing;
    const sessions = [...app.fleet.get().sessions.values()];
    const parents = sessions.filter(({ stopped_at_ms }) => stopped_at_ms === undefined);
    return html`<form class="spawn" novalidate @submit=${this.#onSubmit} @keydown=${this.#onKey}>
      <header class="page-head"><h1>New session</h1></header>
      ${this.#agents(Object.entries(status === undefined ? {} : withDemo(status.backends)))}
      ${this.#text("prompt", "Task", "If empty, the agent waits for your first message.", {
        placeholder: form.backend === "demo" ? "approve" : "Make the tests pass",
        rows: 5,
      })}
      ${this.#text("cwd", "Directory", "Absolute path of the agent’s working directory.", {
        list: knownDirectories(sessions),
        placeholder: "/home/you/project",
        isCode: true,
      })}
      <div class="form-pair">
        ${this.#text("name", "Name", "Can be used in all commands instead of the id.", { placeholder: "fixer" })}
        ${this.#text("model", "Model", "If empty, the agent’s default.", { list: knownModels(sessions, form.backend), isCode: true })}
      </div>
      <div class="form-pair">
        ${this.#row(
          "parent",
          "Parent",
          "Notified when this session finishes or has a request.",
          html`<select id="spawn-parent" .value=${live(form.parent)} @change=${this.#onInput("parent")} aria-describedby="spawn-parent-note">
            <option value="">none</option>
            ${parents.map((one) => html`<option value=${one.session_id} ?selected=${one.session_id === form.parent}>${sanitizeLine(getSessionName(one))}</option>`)}
          </select>`,
        )}
        ${this.#text("budget", "Budget (USD)", "Maximum cost of it and everything below it.", { placeholder: "no limit", mode: "decimal" })}
      </div>
      <label class="form-check">
        <input type="checkbox" .checked=${live(form.approvals)} @change=${this.#onCheck("approvals")} />
        <span>Ask for approval</span>
        <span class="form-note">
          ${
            form.approvals
              ? "Commands and file changes need your approval."
              : html`<strong class="error-text">The agent runs commands and changes files without approval.</strong>`
          }
        </span>
      </label>
      <label class="form-check">
        <input type="checkbox" .checked=${live(form.worktree)} @change=${this.#onCheck("worktree")} />
        <span>New worktree</span>
        <span class="form-note">
          ${
            form.worktree
              ? "The agent works in a copy of the repository’s files, on a branch of its own. Uncommitted changes are not copied."
              : "The agent works in the directory itself."
          }
        </span>
      </label>
      ${this.trouble === undefined ? nothing : html`<p class="form-trouble" role="alert">${sanitizeLine(this.trouble)}</p>`}
      <div class="form-actions">
        <a class="button quiet" href=${app.href({ name: "home" })}>Cancel</a>
        <button type="submit" class="primary" ?disabled=${this.isBusy || form.backend === ""}>
          ${this.isBusy ? html`<span class="spinner"></span>` : icon("play")}Start <kbd aria-hidden="true">Ctrl ↵</kbd>
        </button>
      </div>
    </form>`;
  }

  #agents(backends: readonly [string, string][]): TemplateResult {
    return html`<fieldset class="form-row">
      <legend>Agent</legend>
      <div class="agents">
        ${backends.map(
          ([name, version]) => html`<label class="agent">
            <input type="radio" name="backend" .checked=${live(this.form.backend === name)} @change=${() => this.#choose(name)} />
            <span class="agent-name">${sanitizeLine(name)}</span>
            <span class="faint cut">${name === "demo" ? "built in, free" : sanitizeLine(version)}</span>
          </label>`,
        )}
        ${this.status === undefined ? html`<span class="spinner"></span>` : nothing}
      </div>
      ${
        this.status !== undefined && backends.length === 1
          ? html`<p class="form-note">
              No other agents found. Install ${installable()} on the daemon’s PATH, then restart the daemon.
            </p>`
          : nothing
      }
      ${this.#error("backend")}
    </fieldset>`;
  }

  #text(
    field: Exclude<Field, "approvals" | "worktree" | "backend">,
    label: string,
    note: string,
    how: {
      placeholder?: string;
      rows?: number;
      list?: readonly string[];
      isCode?: boolean;
      mode?: string;
    } = {},
  ): TemplateResult {
    const id = `spawn-${field}`;
    const isBad = String(this.errors[field] !== undefined);
    const control =
      how.rows === undefined
        ? html`<input id=${id} class=${how.isCode ? "mono" : ""} .value=${live(this.form[field])} @input=${this.#onInput(field)}
            placeholder=${how.placeholder ?? ""} autocomplete="off" spellcheck="false" autocapitalize="off"
            inputmode=${how.mode ?? "text"} list=${how.list === undefined ? nothing : `${id}-list`}
            aria-invalid=${isBad} aria-describedby="${id}-note" />
            ${how.list === undefined ? nothing : html`<datalist id="${id}-list">${how.list.map((one) => html`<option value=${one}></option>`)}</datalist>`}`
        : html`<textarea id=${id} rows=${how.rows} .value=${live(this.form[field])} @input=${this.#onInput(field)}
            placeholder=${how.placeholder ?? ""} aria-invalid=${isBad} aria-describedby="${id}-note"></textarea>`;
    return this.#row(field, label, note, control);
  }

  #row(field: Field, label: string, note: string, control: TemplateResult): TemplateResult {
    return html`<div class="form-row">
      <label for="spawn-${field}">${label}</label>
      ${control}
      <p class="form-note" id="spawn-${field}-note">${this.errors[field] === undefined ? note : this.#error(field)}</p>
    </div>`;
  }

  #error(field: Field): TemplateResult | typeof nothing {
    const error = this.errors[field];
    return error === undefined
      ? nothing
      : html`<span class="error-text" role="alert">${sanitizeLine(error)}</span>`;
  }

  #set(change: Partial<SpawnForm>): void {
    this.form = { ...this.form, ...change };
    this.trouble = undefined;
    const left = Object.entries(this.errors).filter(([field]) => !(field in change));
    this.errors = Object.fromEntries(left);
  }

  #choose(backend: string): void {
    this.#set({ backend, model: readRemembered(readKept()).models?.[backend] ?? "" });
  }

  #onInput(field: Exclude<Field, "approvals">): (event: Event) => void {
    return ({ target }) => this.#set({ [field]: (target as HTMLInputElement).value });
  }

  #onCheck(field: "approvals" | "worktree"): (event: Event) => void {
    return ({ target }) => this.#set({ [field]: (target as HTMLInputElement).checked });
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.#start();
    else if (event.key === "Escape" && !event.isComposing) this.app?.navigate({ name: "home" });
    else return;
    event.preventDefault();
  };

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    void this.#start();
  };

  async #start(): Promise<void> {
    const { app, form } = this;
    if (app === undefined || this.isBusy) return;
    this.errors = checkForm(form);
    if (Object.keys(this.errors).length > 0) return this.#showFirstError();
    this.isBusy = true;
    try {
      const { session } = await app.api.spawn(toSpawnBody(form));
      const models = { ...readRemembered(readKept()).models, [form.backend]: form.model.trim() };
      writeKept(
        JSON.stringify({ backend: form.backend, cwd: form.cwd.trim(), approvals: form.approvals, models }),
      );
      this.#set({ prompt: "", name: "", worktree: false });
      app.navigate({ name: "session", session_id: session.session_id });
    } catch (error) {
      this.#showError(error);
    } finally {
      this.isBusy = false;
    }
  }

  #showError(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const field = findErrorField({ code, message });
    if (field === undefined) this.trouble = message;
    else this.errors = { [field]: message };
    this.#showFirstError();
  }

  #showFirstError(): void {
    this.updateComplete.then(
      () => this.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(),
      () => undefined,
    );
  }
}

/** The demo agent is always available, even if the daemon does not list it. */
function withDemo(backends: Readonly<Record<string, string>>): Record<string, string> {
  return { ...backends, demo: "" };
}

if (customElements.get("x-spawn") === undefined) customElements.define("x-spawn", SpawnElement);
