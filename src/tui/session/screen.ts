// The session screen: feeds driver events and keys to the reducer (ui.ts), performs its effects and draws (frame.ts).

import type { Entry, ViewInput } from "../../client/view/types.ts";
import { applyInputs, emptyView } from "../../client/view.ts";
import { createChangesScreen } from "../changes/screen.ts";
import { createFeedLayout } from "../rows/feed.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { SessionDriver } from "../types.ts";
import { runEffect } from "./effects.ts";
import { drawSessionFrame, type SessionFrame } from "./frame.ts";
import { detectNotification, NOTIFICATION_TEXTS } from "./notifications.ts";
import { createUi, getWaiting, isTurnRunning, isUnfolded } from "./state.ts";
import { reduce } from "./ui.ts";
import type { SessionUi, UiContext, UiEvent } from "./ui-types.ts";

/** Refreshes clocks and expires notices. */
const TICK_MS = 1_000;

export function createSessionScreen(driver: SessionDriver): Opener {
  return (app) => new SessionScreen(driver, app);
}

class SessionScreen implements Screen {
  readonly #driver: SessionDriver;
  readonly #app: App;
  readonly #feed = createFeedLayout();
  readonly #canGoBack: boolean;
  #ui: SessionUi;
  #frame: SessionFrame | undefined;
  #laid: { entries?: readonly Entry[]; feed?: SessionUi["feed"]; columns?: number } = {};
  #inputs: ViewInput[] = [];
  #tick: NodeJS.Timeout | undefined;
  /** The event to scroll to once it is known. */
  #place: number | undefined;

  constructor(driver: SessionDriver, app: App) {
    this.#driver = driver;
    this.#place = driver.at_seq;
    this.#app = app;
    this.#canGoBack = app.canGoBack();
    this.#ui = createUi(emptyView(), app.size(), Date.now());
    this.#tick = setInterval(() => this.#onTick(), TICK_MS);
    driver.start((inputs) => this.#onInputs(inputs));
  }

  title(): string {
    const sign = getWaiting(this.#ui).length > 0 ? "? " : isTurnRunning(this.#ui) ? "● " : "";
    return `${sign}${this.#name()}`;
  }

  onInput(input: Input): void {
    // Events that arrived before the key are applied first.
    this.#apply();
    this.#dispatch({ kind: "input", input, at_ms: Date.now() });
  }

  draw(size: Size) {
    this.#apply();
    this.#resize(size);
    this.#layOut();
    const frame = drawSessionFrame(this.#ui, {
      feed: this.#feed,
      look: this.#app.look,
      title: this.#driver.title,
      settings: this.#driver.settings?.() ?? [],
      context: this.#context(),
    });
    this.#frame = frame;
    // A request can be answered only once it has been written to the terminal.
    setImmediate(() => {
      if (this.#frame === frame && this.#ui.drawn !== frame.request) {
        this.#dispatch({ kind: "drawn", request: frame.request });
      }
    });
    return frame;
  }

  onShown(isShown: boolean): void {
    clearInterval(this.#tick);
    if (isShown) this.#tick = setInterval(() => this.#onTick(), TICK_MS);
  }

  async close(): Promise<void> {
    clearInterval(this.#tick);
    await this.#driver.close();
  }

  #name(): string {
    const { session } = this.#ui.view;
    return session?.name ?? session?.title ?? this.#driver.title;
  }

  #onInputs(inputs: readonly ViewInput[]): void {
    for (const input of inputs) this.#inputs.push(input);
    this.#app.redraw("soon");
  }

  #apply(): void {
    if (this.#inputs.length === 0) return;
    const view = applyInputs(this.#ui.view, this.#inputs);
    this.#inputs = [];
    const before = this.#ui;
    this.#dispatch({ kind: "view", view, at_ms: Date.now() });
    this.#goToPlace();
    // With a list below, the list raises notifications.
    const news = this.#canGoBack ? undefined : detectNotification(before, this.#ui);
    if (news !== undefined) {
      this.#app.notify({
        kind: news,
        session_id: this.#driver.session_id,
        text: `${this.#name()} ${NOTIFICATION_TEXTS[news]}`,
      });
    }
  }

  /** Once everything before it has been read. A tool's result belongs to the entry of its call. */
  #goToPlace(): void {
    const { view } = this.#ui;
    const place = this.#place;
    if (place === undefined || view.seq < place) return;
    this.#place = undefined;
    const entry = view.entries.findLast(({ seq }) => seq !== null && seq <= place);
    if (entry !== undefined) this.#dispatch({ kind: "place", entry: entry.id });
  }

  #onTick(): void {
    const before = this.#ui;
    this.#dispatch({ kind: "tick", at_ms: Date.now() });
    const hasClock =
      isTurnRunning(this.#ui) || before.notice !== this.#ui.notice || before.armed !== this.#ui.armed;
    if (hasClock || getWaiting(this.#ui).length > 0) this.#app.redraw("soon");
  }

  #dispatch(event: UiEvent): void {
    const { ui, effects } = reduce(this.#ui, event, this.#context());
    this.#ui = ui;
    for (const effect of effects) {
      void runEffect(effect, {
        driver: this.#driver,
        app: this.#app,
        dispatch: (next) => {
          this.#dispatch(next);
          this.#app.redraw("now");
        },
        openChanges: () => this.#openChanges(),
      });
    }
  }

  #openChanges(): void {
    const { changes: port } = this.#driver;
    if (port === undefined) return;
    const isWorking = isTurnRunning(this.#ui);
    this.#app.open(createChangesScreen({ port, title: this.#name(), isWorking }));
  }

  #context(): UiContext {
    const { commands, pickers, requestFocus, endsWithScreen = false } = this.#driver;
    const { feedHeight = 10, editorWidth = 70, requestScroll = 0, requestHeight = 0 } = this.#frame ?? {};
    return {
      feed: this.#feed,
      feedHeight,
      editorWidth,
      requestScroll,
      requestHeight,
      commands,
      pickers,
      requestFocus,
      endsWithScreen,
      canGoBack: this.#canGoBack,
      hasChanges: this.#driver.changes !== undefined,
      hasImages: this.#driver.attach !== undefined,
      hasFiles: this.#driver.findFiles !== undefined,
      hasAgentCommands: this.#driver.agentCommands !== undefined,
    };
  }

  /** A new width rewraps rows; the top row keeps its relative position in its entry. */
  #resize(size: Size): void {
    const { size: before, feed } = this.#ui;
    if (before.columns === size.columns && before.rows === size.rows) return;
    const old = this.#countRows(feed.anchor?.entry);
    this.#dispatch({ kind: "size", size, scale: 1 });
    if (before.columns === size.columns || feed.anchor === undefined) return;
    this.#layOut();
    const scale = this.#countRows(feed.anchor.entry) / Math.max(1, old);
    this.#dispatch({ kind: "size", size, scale });
  }

  #countRows(id: string | undefined): number {
    const { entries } = this.#ui.view;
    const at = entries.findIndex((entry) => entry.id === id);
    const next = entries[at + 1];
    if (id === undefined || at < 0) return 1;
    const end = next === undefined ? this.#feed.rowCount : (this.#feed.findRow(next.id) ?? 0);
    return Math.max(1, end - (this.#feed.findRow(id) ?? 0));
  }

  #layOut(): void {
    const { view, size, feed } = this.#ui;
    const { entries } = view;
    const { columns } = size;
    const laid = this.#laid;
    const isSame = laid.entries === entries && laid.columns === columns;
    if (isSame && laid.feed?.turned === feed.turned && laid.feed.isAllOpen === feed.isAllOpen) return;
    this.#laid = { entries, feed, columns };
    this.#feed.update(entries, {
      width: Math.max(8, columns - 1),
      theme: this.#app.look,
      isOpen: (entry) => isUnfolded(this.#ui, entry),
    });
  }
}
