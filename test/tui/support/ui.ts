// A session's screen as data: states made by keys and views, without a terminal.

import type { Entry, RequestRow, View } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../src/client/view.ts";
import { createFeedLayout } from "../../../src/tui/rows/feed.ts";
import type { Input } from "../../../src/tui/screen-types.ts";
import { drawSessionFrame, type SessionFrame } from "../../../src/tui/session/frame.ts";
import { createUi, isUnfolded } from "../../../src/tui/session/state.ts";
import { reduce } from "../../../src/tui/session/ui.ts";
import type { Effect, SessionUi, UiContext, UiEvent } from "../../../src/tui/session/ui-types.ts";

const LOOK = { hasColor: false, isAscii: false };

export function liveView(change: Partial<View> = {}): View {
  return { ...applyInputs(emptyView(), [{ kind: "link", state: "live" }]), ...change };
}

export function textEntry(id: string, text = id): Entry {
  return { kind: "text", id, seq: 1, depth: 0, text, isOpen: false };
}

export function toolEntry(id: string): Entry {
  return {
    kind: "tool",
    id,
    seq: 1,
    depth: 0,
    tool_use_id: id,
    name: "Bash",
    title: "ls",
    input: { command: "ls" },
    status: "done",
    output: "HIDDEN-OUTPUT\nsecond\nthird",
  };
}

/** Keys by their chords; one character is text. */
export function keys(...names: string[]): Input[] {
  return names.map((name) =>
    [...name].length === 1 ? { kind: "text", text: name } : { kind: "key", chord: name },
  );
}

export function typed(text: string): Input[] {
  return [...text].map((character) => ({ kind: "text", text: character }));
}

/** Plays the screen: like the real one it draws after every step unless disabled. */
export class Player {
  ui: SessionUi;
  readonly effects: Effect[] = [];
  readonly #context: Partial<UiContext>;
  readonly #feed = createFeedLayout();
  #frame: SessionFrame | undefined;
  now_ms = 1_000_000;

  constructor({
    view = liveView(),
    size = { columns: 80, rows: 24 },
    ...context
  }: Partial<UiContext> & {
    view?: View;
    size?: { columns: number; rows: number };
  } = {}) {
    this.#context = context;
    this.ui = createUi(view, size, this.now_ms);
    this.draw();
    // A view that starts with requests is dispatched like an update.
    this.view(view);
  }

  /** Each key is pressed with the screen drawn before it. */
  press(...inputs: Input[]): this {
    for (const input of inputs) {
      this.blind(input);
      this.draw();
    }
    return this;
  }

  /** Keys in one burst: nothing is drawn between them. */
  blind(...inputs: Input[]): this {
    for (const input of inputs) this.event({ kind: "input", input, at_ms: this.now_ms });
    return this;
  }

  view(change: Partial<View>): this {
    return this.event({ kind: "view", view: { ...this.ui.view, ...change }, at_ms: this.now_ms }).draw();
  }

  requests(...requests: RequestRow[]): this {
    return this.view({ requests });
  }

  event(event: UiEvent): this {
    const { ui, effects } = reduce(this.ui, event, this.#whole());
    this.ui = ui;
    this.effects.push(...effects);
    return this;
  }

  draw(): this {
    this.#feed.update(this.ui.view.entries, {
      width: this.ui.size.columns - 1,
      theme: LOOK,
      isOpen: (entry) => isUnfolded(this.ui, entry),
    });
    this.#frame = this.frame();
    return this.event({ kind: "drawn", request: this.#frame.request });
  }

  frame(): SessionFrame {
    const context = this.#whole();
    return drawSessionFrame(this.ui, { feed: this.#feed, look: LOOK, title: "test", settings: [], context });
  }

  screen(): string {
    return this.frame().rows.join("\n");
  }

  #whole(): UiContext {
    return {
      feed: this.#feed,
      feedHeight: this.#frame?.feedHeight ?? 10,
      editorWidth: this.#frame?.editorWidth ?? 70,
      requestScroll: this.#frame?.requestScroll ?? 0,
      requestHeight: this.#frame?.requestHeight ?? 0,
      commands: [],
      pickers: [],
      requestFocus: "asked",
      endsWithScreen: false,
      canGoBack: false,
      hasChanges: false,
      hasFiles: true,
      hasAgentCommands: false,
      ...this.#context,
    };
  }
}
