// <x-help>: keyboard shortcuts, from the key tables.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import type { App } from "../app-types.ts";
import { CHANGES_KEYS, LINE_KEYS } from "../changes/keys.ts";
import { STATS_KEYS } from "../charts/keys.ts";
import { LIST_KEYS } from "../fleet/keys.ts";
import { INBOX_KEYS } from "../inbox/keys.ts";
import { CARD_KEYS, DETAILS_KEY, KEYS } from "../keyboard.ts";

interface Group {
  title: string;
  rows: readonly { keys: readonly string[]; what: string }[];
}

const GROUPS: readonly Group[] = [
  { title: "Everywhere", rows: KEYS },
  {
    title: "On a request (y and n also while nothing has the focus)",
    rows: [
      ...Object.values(CARD_KEYS).map(({ key, label, what = label }) => ({ keys: [key], what })),
      { keys: ["1", "…", "9"], what: "Select a choice by number; Enter confirms" },
      { keys: [DETAILS_KEY], what: "Show or hide details" },
    ],
  },
  {
    title: "In the session list",
    rows: LIST_KEYS,
  },
  { title: "In the inbox", rows: INBOX_KEYS },
  { title: "In the Changes tab", rows: CHANGES_KEYS },
  { title: "On the lines of a changed file", rows: LINE_KEYS },
  { title: "Usage and activity", rows: STATS_KEYS },
];

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Enter: "↵",
  " ": "Space",
  Escape: "Esc",
  X: "Shift X",
  T: "Shift T",
};

class HelpElement extends LitElement {
  static override properties = { app: { attribute: false } };
  declare app: App | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add("page");
    addEventListener("keydown", this.#onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.#onKey);
  }

  protected override render(): TemplateResult | typeof nothing {
    return html`<header class="page-head"><h1>Keyboard shortcuts</h1></header>
      <p class="help-intro">
        While you type in a field, shortcuts are off; <kbd>Esc</kbd> leaves the field. Requests are answered only with the
        buttons of their card or their keys, never by a message. For the same sessions in a terminal, run
        <code>blemees</code>.
      </p>
      <div class="help-groups">
        ${GROUPS.map(
          ({ title, rows }) => html`<section class="help-group">
            <h2>${title}</h2>
            <dl>
              ${rows.map(
                ({ keys, what }) =>
                  html`<dt>${what}</dt>
                    <dd>${keys.map((key, at) => html`${at === 0 ? nothing : "or"} ${sequence(key)}`)}</dd>`,
              )}
            </dl>
          </section>`,
        )}
      </div>`;
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (history.length > 1) history.back();
    else this.app?.navigate({ name: "home" });
  };
}

/** "g h" is a sequence. */
function sequence(key: string): TemplateResult[] {
  const pressed = key === " " ? [key] : key.split(" ");
  return pressed.map((one) => html`<kbd>${NAMES[one] ?? one}</kbd>`);
}

if (customElements.get("x-help") === undefined) customElements.define("x-help", HelpElement);
