// The search over the history of all sessions, above the list: searches while the user types, and opens hits at their place.
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { SearchHit } from "../../protocol/search.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { FleetDriver } from "../types.ts";
import { drawSearch, type SearchFrame } from "./draw.ts";
import { createSearch, reduceSearch, type SearchEffect, type SearchEvent, type SearchUi } from "./state.ts";

/** A pause in typing. */
const PAUSE_MS = 120;

export interface SearchScreenOptions {
  driver: Pick<FleetDriver, "search">;
  /** Searched for at first. */
  text: string;
  openSession(session_id: string, seq: number): void;
  /** Opens a conversation that was started outside. */
  openOutside(hit: SearchHit): void;
}

export function createSearchScreen(options: SearchScreenOptions): Opener {
  return (app) => new SearchScreen(options, app);
}

class SearchScreen implements Screen {
  readonly #options: SearchScreenOptions;
  readonly #app: App;
  #ui: SearchUi;
  #frame: SearchFrame | undefined;
  #timer: NodeJS.Timeout | undefined;
  #search: AbortController | undefined;

  constructor(options: SearchScreenOptions, app: App) {
    this.#options = options;
    this.#app = app;
    const { ui, effects } = createSearch(options.text);
    this.#ui = ui;
    for (const effect of effects) this.#carryOut(effect);
  }

  title(): string {
    return "blemees: search";
  }

  onInput(input: Input): void {
    this.#dispatch({ kind: "input", input, page: this.#frame?.page ?? 10 });
  }

  draw(size: Size): SearchFrame {
    this.#frame = drawSearch(this.#ui, size, { look: this.#app.look, nowMs: Date.now() });
    return this.#frame;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#search?.abort();
  }

  #dispatch(event: SearchEvent): void {
    const { ui, effects } = reduceSearch(this.#ui, event);
    this.#ui = ui;
    for (const effect of effects) this.#carryOut(effect);
    this.#app.redraw("now");
  }

  #carryOut(effect: SearchEffect): void {
    switch (effect.kind) {
      case "search":
        this.#searchSoon(effect.text, effect.after);
        break;
      case "open":
        if (effect.hit.outside) this.#options.openOutside(effect.hit);
        else this.#options.openSession(effect.hit.session_id, effect.hit.seq);
        break;
      default:
        this.#app[effect.kind]();
    }
  }

  /** Only the newest search counts. */
  #searchSoon(text: string, after: string | undefined): void {
    clearTimeout(this.#timer);
    this.#search?.abort();
    const search = new AbortController();
    this.#search = search;
    this.#timer = setTimeout(() => {
      this.#options.driver.search({ text, ...defined({ after }) }, search.signal).then(
        (reply) => {
          if (!search.signal.aborted) this.#dispatch({ kind: "reply", text, reply, ...defined({ after }) });
        },
        (error: unknown) => {
          if (!search.signal.aborted) this.#dispatch({ kind: "failed", text, message: toMessage(error) });
        },
      );
    }, PAUSE_MS);
  }
}
