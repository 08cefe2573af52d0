// State of the search screen: the text, what it found, and the selected hit. Pure: (state, event) → state and effects, which
// screen.ts performs.
import { splitBySession } from "../../client/view/search-hits.ts";
import type { SearchHit, SearchReply } from "../../protocol/search.ts";
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, expandText, setText } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import { findSearchAction } from "./keys.ts";

export interface SearchUi {
  editor: Editor;
  /** In the order they are shown: by session. */
  hits: readonly SearchHit[];
  /** What they were found by; undefined before the first reply. */
  found?: string;
  /** There are more. */
  next?: string;
  selected: number;
  isSearching: boolean;
  unindexed: number;
  problem?: string;
}

export type SearchEvent =
  | { kind: "input"; input: Input; page: number }
  /** `after`: the page it follows. */
  | { kind: "reply"; text: string; reply: SearchReply; after?: string }
  | { kind: "failed"; text: string; message: string };

export type SearchEffect =
  | { kind: "search"; text: string; after?: string }
  | { kind: "open"; hit: SearchHit }
  | { kind: "back" | "suspend" | "repaint" };

export interface SearchStep {
  ui: SearchUi;
  effects: readonly SearchEffect[];
}

/** The text comes from the list's filter, if there was one. */
export function createSearch(text: string): SearchStep {
  const ui = { editor: setText(EMPTY_EDITOR, text), hits: [], selected: 0, isSearching: false, unindexed: 0 };
  return search(ui);
}

export function reduceSearch(ui: SearchUi, event: SearchEvent): SearchStep {
  switch (event.kind) {
    case "input":
      return onInput(ui, event.input, event.page);
    case "reply":
      return { ui: event.text === getText(ui) ? take(ui, event) : ui, effects: [] };
    case "failed": {
      const { found: _, next: __, ...rest } = ui;
      if (event.text !== getText(ui)) return { ui, effects: [] };
      return {
        ui: { ...rest, hits: [], selected: 0, isSearching: false, problem: event.message },
        effects: [],
      };
    }
  }
}

export function getText({ editor }: SearchUi): string {
  return expandText(editor).trim();
}

function onInput(ui: SearchUi, input: Input, page: number): SearchStep {
  switch (findSearchAction(input)) {
    case "up":
      return select(ui, ui.selected - 1);
    case "down":
      return select(ui, ui.selected + 1);
    case "page_up":
      return select(ui, ui.selected - page);
    case "page_down":
      return select(ui, ui.selected + page);
    case "open": {
      const hit = ui.hits[ui.selected];
      if (hit === undefined) return { ui, effects: [] };
      return { ui, effects: [{ kind: "open", hit }] };
    }
    case "back":
      return { ui, effects: [{ kind: "back" }] };
    case "suspend":
      return { ui, effects: [{ kind: "suspend" }] };
    case "repaint":
      return { ui, effects: [{ kind: "repaint" }] };
    default: {
      const editor = editWith(ui.editor, input, true) ?? ui.editor;
      if (editor === ui.editor) return { ui, effects: [] };
      const edited = { ...ui, editor };
      return getText(edited) === getText(ui) ? { ui: edited, effects: [] } : search(edited);
    }
  }
}

/** At the last hit, the next page is asked for. */
function select(ui: SearchUi, to: number): SearchStep {
  const selected = Math.max(0, Math.min(ui.hits.length - 1, to));
  const isPast = to >= ui.hits.length - 1 && ui.next !== undefined && !ui.isSearching;
  if (!isPast) return { ui: { ...ui, selected }, effects: [] };
  return {
    ui: { ...ui, selected, isSearching: true },
    effects: [{ kind: "search", text: getText(ui), ...(ui.next && { after: ui.next }) }],
  };
}

/** What was found before stays on the screen until the reply. */
function search(before: SearchUi): SearchStep {
  const { problem: _, ...ui } = before;
  const text = getText(ui);
  if (text !== "") return { ui: { ...ui, isSearching: true }, effects: [{ kind: "search", text }] };
  const { found: __, next: ___, ...rest } = ui;
  return { ui: { ...rest, hits: [], selected: 0, isSearching: false }, effects: [] };
}

function take(ui: SearchUi, { text, reply, after }: Extract<SearchEvent, { kind: "reply" }>): SearchUi {
  const { next: _, ...rest } = ui;
  const isMore = after !== undefined;
  const hits = isMore ? [...ui.hits, ...reply.hits] : reply.hits;
  return {
    ...rest,
    // A later page does not move the hits that are on the screen.
    hits: isMore ? hits : splitBySession(hits).flat(),
    found: text,
    ...(reply.next && { next: reply.next }),
    selected: isMore ? ui.selected : 0,
    isSearching: false,
    unindexed: reply.unindexed ?? 0,
  };
}
