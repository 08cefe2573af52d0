// Light, dark or system theme: stored in this browser and set on the root element.
import { html, LitElement, type TemplateResult } from "lit";
import { type IconName, icon } from "../icons.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "blemees.theme";
const LOOKS: Record<Theme, { icon: IconName; label: string }> = {
  system: { icon: "screen", label: "Theme: system" },
  light: { icon: "sun", label: "Theme: light" },
  dark: { icon: "moon", label: "Theme: dark" },
};

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === kept) ?? "system";
  } catch {
    // Storage may be blocked; use the system theme.
    return "system";
  }
}

function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Lasts until the page is closed.
  }
  showTheme(theme);
}

function showTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}

/** Returns a function that stops it. */
export function watchTheme(listener: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", listener);
    observer.disconnect();
  };
}

class ThemeElement extends LitElement {
  #end: (() => void) | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    showTheme(readTheme());
    this.#end = watchTheme(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#end?.();
  }

  protected override render(): TemplateResult {
    const theme = readTheme();
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
    const look = LOOKS[theme];
    return html`<button
      type="button"
      class="quiet icon-only"
      aria-label=${look.label}
      title=${look.label}
      @click=${() => setTheme(next)}
    >
      ${icon(look.icon)}
    </button>`;
  }
}

if (customElements.get("x-theme") === undefined) customElements.define("x-theme", ThemeElement);
