// A button that copies the original text, not the sanitized one.
import { html, type TemplateResult } from "lit";

export function copyButton(getText: () => string, label: string): TemplateResult {
  return html`<button class="copy quiet" type="button" aria-label=${label} title=${label} @click=${(
    event: Event,
  ) => void copy(event.currentTarget as HTMLElement, getText())}>Copy</button>`;
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.dataset["state"] = "done";
  } catch {
    // Denied by the browser; shown on the button.
    button.dataset["state"] = "failed";
  }
  setTimeout(() => {
    delete button.dataset["state"];
  }, 1_500);
}
