// Queued messages, which can be cancelled.
import { html, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { QueuedMessage } from "../../../src/protocol/queue.ts";

export function queueView(
  queue: readonly QueuedMessage[],
  cancel: (message: QueuedMessage) => void,
): TemplateResult | typeof nothing {
  if (queue.length === 0) return nothing;
  return html`<ol class="queue" aria-label="Queued messages">
    ${queue.map(
      (message) => html`<li class="queued">
        ${message.for_turn === undefined ? nothing : html`<span class="queued-for">for this turn</span>`}
        <span class="queued-text">${sanitizeLine(queuedText(message))}</span>
        <button class="queued-cancel quiet" type="button" aria-label="Cancel this message" @click=${() => cancel(message)}>Cancel</button>
      </li>`,
    )}
  </ol>`;
}

function queuedText({ message }: QueuedMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((block) => ("text" in block && typeof block.text === "string" ? block.text : `[${block.type}]`))
    .join(" ");
}
