// The list of sessions that were started outside, over the list of sessions: reads on demand, performs effects and draws.
import { toMessage } from "../../base/coded-error.ts";
import type { TranscriptView } from "../../client/http/types.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { OutsideDriver, SessionDriver } from "../types.ts";
import { countOutsideRows, drawOutside } from "./draw.ts";
import {
  addPage,
  FIRST_OUTSIDE_UI,
  type OutsideEffect,
  type OutsideUi,
  onOutsideInput,
  showOutsideProblem,
} from "./state.ts";

export interface OutsideScreenOptions {
  driver: OutsideDriver;
  /** Shows a conversation. */
  show(driver: SessionDriver): void;
  /** Opens the session that continues one. */
  openSession(session_id: string): void;
}

export function createOutsideScreen(options: OutsideScreenOptions): Opener {
  return (app) => new OutsideScreen(options, app);
}

class OutsideScreen implements Screen {
  readonly #options: OutsideScreenOptions;
  readonly #app: App;
  #ui: OutsideUi = FIRST_OUTSIDE_UI;

  constructor(options: OutsideScreenOptions, app: App) {
    this.#options = options;
    this.#app = app;
  }

  title(): string {
    return "blemees: started outside";
  }

  onInput(input: Input): void {
    const page = countOutsideRows(this.#app.size().rows);
    const { ui, effects } = onOutsideInput(this.#ui, input, page);
    this.#ui = ui;
    for (const effect of effects) this.#carryOut(effect);
  }

  draw(size: Size): { rows: string[] } {
    return { rows: drawOutside(this.#ui, size, { look: this.#app.look, nowMs: Date.now() }) };
  }

  /** Also after a conversation was left, which may have been continued meanwhile. */
  onShown(isShown: boolean): void {
    if (isShown) void this.#load(undefined);
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  #carryOut(effect: OutsideEffect): void {
    switch (effect.kind) {
      case "load":
        void this.#load(effect.after);
        break;
      case "read":
        this.#read(effect.transcript);
        break;
      case "adopt":
        void this.#adopt(effect.transcript);
        break;
      default:
        this.#app[effect.kind]();
    }
  }

  async #load(after: string | undefined): Promise<void> {
    try {
      const page = await this.#options.driver.list(after);
      this.#ui = addPage(this.#ui, page, after !== undefined);
    } catch (error) {
      this.#ui = showOutsideProblem(this.#ui, toMessage(error));
    }
    this.#app.redraw("now");
  }

  #read(transcript: TranscriptView): void {
    const onContinued = (session_id: string): void => {
      this.#app.back();
      this.#replace(session_id);
    };
    this.#options.show(this.#options.driver.read(transcript, onContinued));
  }

  /** Below the session is the list of sessions, which has it now. */
  #replace(session_id: string): void {
    this.#app.back();
    this.#options.openSession(session_id);
  }

  async #adopt(transcript: TranscriptView): Promise<void> {
    try {
      const session_id = await this.#options.driver.adopt(transcript);
      this.#replace(session_id);
    } catch (error) {
      this.#ui = showOutsideProblem(this.#ui, toMessage(error));
      this.#app.redraw("now");
    }
  }
}
