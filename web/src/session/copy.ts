// A button that copies exactly what an agent wrote, not what was made of it for the eye.
import { html, type TemplateResult } from "lit";

export function copyButton(textOf: () => string, label: string): TemplateResult {
  return html`<button class="copy quiet" type="button" aria-label=${label} title=${label} @click=${(
    event: Event,
  ) => void copy(event.currentTarget as HTMLElement, textOf())}>Copy</button>`;
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.dataset["state"] = "done";
  } catch {
    // The browser refused: the person sees that nothing was copied.
    button.dataset["state"] = "failed";
  }
  setTimeout(() => {
    delete button.dataset["state"];
  }, 1_500);
}
