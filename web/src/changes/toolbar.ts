// The head of the Changes tab: which turn, totals, one column or two, undo.
import { html, nothing, type TemplateResult } from "lit";
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import {
  type ChangesScope,
  countFiles,
  describeBase,
  describeTurn,
} from "../../../src/client/view/change-list.ts";
import type { ChangesState } from "../../../src/client/view/change-source.ts";
import { countsView } from "./file-view.ts";
import type { ChangesAction } from "./keys.ts";

export interface ToolbarContext {
  state: ChangesState;
  isSplit: boolean;
  canSplit: boolean;
  canOpen: boolean;
  isAllOpen: boolean;
  /** The turn that Undo would undo, if one can be undone now. */
  undone: number | undefined;
  selectTurn(turn: ChangesScope | undefined): void;
  do(action: ChangesAction): void;
  undo(turn: number): void;
}

export function toolbar(context: ToolbarContext): TemplateResult {
  const { state, isSplit, canSplit, canOpen, isAllOpen, undone } = context;
  const { reply, turn } = state;
  const turns = reply?.turns ?? [];
  return html`<div class="changes-bar" role="toolbar" aria-label="Changes">
    <label class="visually-hidden" for="changes-turn">Turn</label>
    <select id="changes-turn" class="changes-turn" ?disabled=${turns.length === 0} @change=${(
      event: Event,
    ) => {
      const { value } = event.currentTarget as HTMLSelectElement;
      context.selectTurn(value === "" ? undefined : value === "base" ? value : Number(value));
    }}>
      <option value="" .selected=${turn === undefined}>All turns</option>
      ${turns.map(
        (one) =>
          html`<option value=${one.turn} .selected=${one.turn === turn}>${capitalize(describeTurn(one))}</option>`,
      )}
      <option value="base" .selected=${turn === "base"}>Since the base</option>
    </select>
    ${turn === "base" && reply?.base !== undefined ? html`<span class="changes-base">${sanitizeLine(describeBase(reply.base))}</span>` : nothing}
    ${
      reply === undefined || reply.totals.files === 0
        ? nothing
        : html`<span class="changes-totals" role="status">${countFiles(reply.totals.files)} ${countsView(reply.totals)}</span>`
    }
    <div class="changes-tools">
      ${canOpen ? html`<button class="quiet small" type="button" @click=${() => context.do("open_all")}>${isAllOpen ? "Close all" : "Open all"}</button>` : nothing}
      ${
        canSplit && canOpen
          ? html`<div class="segments" role="group" aria-label="Columns">
              <button class="small" type="button" aria-pressed=${!isSplit} @click=${() => isSplit && context.do("split")}>Unified</button>
              <button class="small" type="button" aria-pressed=${isSplit} @click=${() => isSplit || context.do("split")}>Side by side</button>
            </div>`
          : nothing
      }
      ${undone === undefined || !canOpen ? nothing : html`<button class="quiet small danger" type="button" @click=${() => context.undo(undone)}>Undo turn ${undone}…</button>`}
    </div>
  </div>`;
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
