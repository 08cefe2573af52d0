// Completion in the composer: files after `@`, the agent's commands after `/`. Keeps what is on the screen; the composer
// draws it with `completionList`, and passes it keys and changes of the text.
import { html, nothing } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  type AgentCommand,
  applyCompletion,
  type CompletionOption,
  type CompletionTarget,
  findCompletionTarget,
  matchCommands,
  toFileOption,
} from "../../../src/client/view/completion.ts";
import type { FilesReply } from "../../../src/protocol/files.ts";

export interface CompleterParts {
  findFiles(match: string): Promise<Pick<FilesReply, "files" | "reason">>;
  listCommands(): Promise<readonly AgentCommand[]>;
  changed(): void;
}

export class Completer {
  options: readonly CompletionOption[] = [];
  marked = 0;
  message = "";
  readonly #parts: CompleterParts;
  #target: CompletionTarget | undefined;
  /** Closed with Escape: not shown again for the word that starts here. */
  #closedAt: string | undefined;

  constructor(parts: CompleterParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.options.length > 0;
  }

  /** Called after every change of the text or the cursor. */
  follow(text: string, cursor: number): void {
    const target = findCompletionTarget(text, cursor);
    const before = this.#target;
    this.#target = target;
    if (target === undefined || toPlace(target) !== toPlace(before)) this.#show([]);
    if (target === undefined) this.#closedAt = undefined;
    else if (this.#closedAt !== toPlace(target)) {
      if (before?.query === target.query && toPlace(before) === toPlace(target)) return;
      void this.#load(target);
    }
  }

  close(): void {
    this.#closedAt = this.#target && toPlace(this.#target);
    this.#show([]);
  }

  move(by: 1 | -1): void {
    this.marked = (this.marked + by + this.options.length) % this.options.length;
    this.#parts.changed();
  }

  /** The text with the option put in; undefined if it is there already. */
  take(text: string, at = this.marked): { text: string; cursor: number } | undefined {
    const option = this.options[at];
    const target = this.#target;
    if (option === undefined || target === undefined) return undefined;
    if (text.slice(target.from, target.to) === option.value) return undefined;
    return applyCompletion(text, target, option);
  }

  async #load(target: CompletionTarget): Promise<void> {
    const isStale = (): boolean => this.#target !== target;
    try {
      if (target.kind === "file") {
        const { files, reason = "" } = await this.#parts.findFiles(target.query);
        if (!isStale()) this.#show(files.map(toFileOption), reason);
      } else {
        const commands = matchCommands(target.query, await this.#parts.listCommands());
        if (!isStale()) this.#show(commands.map(toCommandOption));
      }
    } catch (error) {
      if (!isStale()) this.#show([], error instanceof Error ? error.message : String(error));
    }
  }

  #show(options: readonly CompletionOption[], message = ""): void {
    this.options = options;
    this.message = message;
    this.marked = 0;
    this.#parts.changed();
  }
}

function toPlace(target: CompletionTarget | undefined): string {
  return target === undefined ? "" : `${target.kind} ${target.from}`;
}

function toCommandOption({ name, summary }: AgentCommand): CompletionOption {
  return { value: name, label: name, ...(summary === undefined ? {} : { detail: summary }) };
}

export const COMPLETION_ID = "composer-options";

export function completionList(completer: Completer, take: (at: number) => void): unknown {
  if (completer.message !== "")
    return html`<p class="completion-note" role="status">${sanitizeLine(completer.message)}</p>`;
  if (!completer.isOpen) return nothing;
  return html`<ul class="completions" id=${COMPLETION_ID} role="listbox" aria-label="Completions">
    ${completer.options.map(
      ({ label, detail }, at) =>
        html`<li
          class="completion"
          role="option"
          id=${`${COMPLETION_ID}-${at}`}
          aria-selected=${at === completer.marked ? "true" : "false"}
          @mousedown=${(event: Event) => {
            // The text keeps the focus.
            event.preventDefault();
            take(at);
          }}
        ><bdi class="completion-label">${sanitizeLine(label)}</bdi>${detail === undefined ? nothing : html` <span class="completion-detail">${sanitizeLine(detail)}</span>`}</li>`,
    )}
  </ul>`;
}
