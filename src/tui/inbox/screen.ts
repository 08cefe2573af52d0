// The inbox, over the list: follows all sessions, performs effects and draws.

import { toMessage } from "../../base/coded-error.ts";
import type { Fleet } from "../../client/view/fleet.ts";
import { answerItem, describeOutcomes, type InboxItem } from "../../client/view/inbox.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { FleetDriver } from "../types.ts";
import { drawInbox, type InboxFrame } from "./draw.ts";
import {
  createInbox,
  FIRST_CONTEXT,
  type InboxContext,
  type InboxEffect,
  type InboxEvent,
  type InboxUi,
  reduceInbox,
} from "./state.ts";

/** Expires notices and refreshes ages. */
const TICK_MS = 1_000;

export interface InboxScreenOptions {
  driver: Pick<FleetDriver, "respond" | "wholeRequest">;
  fleet: Fleet;
  /** Calls the listener with each new state, until the returned function is called. */
  watch(listener: (fleet: Fleet) => void): () => void;
  openSession(session_id: string): void;
  /** Opened first; otherwise the oldest. */
  request_id?: string;
}

export function createInboxScreen(options: InboxScreenOptions): Opener {
  return (app) => new InboxScreen(options, app);
}

class InboxScreen implements Screen {
  readonly #options: InboxScreenOptions;
  readonly #app: App;
  readonly #stop: () => void;
  #inbox: InboxUi;
  #frame: InboxFrame | undefined;
  #tick: NodeJS.Timeout | undefined;

  constructor(options: InboxScreenOptions, app: App) {
    this.#options = options;
    this.#app = app;
    const { fleet, request_id } = options;
    const { inbox, effects } = createInbox(fleet, app.size(), Date.now(), request_id);
    this.#inbox = inbox;
    for (const effect of effects) this.#carryOut(effect);
    this.#stop = options.watch((fleet) => {
      this.#dispatch({ kind: "fleet", fleet, at_ms: Date.now() });
      app.redraw("soon");
    });
  }

  title(): string {
    const count = this.#inbox.items.reduce((sum, { requests }) => sum + requests.length, 0);
    return `${count === 0 ? "" : `(${count}) `}blemees: inbox`;
  }

  onInput(input: Input): void {
    this.#dispatch({ kind: "input", input, at_ms: Date.now() });
  }

  draw(size: Size): InboxFrame {
    const { columns, rows } = this.#inbox.ui.size;
    if (columns !== size.columns || rows !== size.rows) this.#dispatch({ kind: "size", size, scale: 1 });
    const frame = drawInbox(this.#inbox, size, { look: this.#app.look, nowMs: Date.now() });
    this.#frame = frame;
    // A request can be answered only once it has been written to the terminal.
    setImmediate(() => {
      const { request, item } = frame;
      const isNew = this.#inbox.ui.drawn !== request || this.#inbox.drawn !== item;
      if (this.#frame === frame && isNew) this.#dispatch({ kind: "drawn", request, item });
    });
    return frame;
  }

  onShown(isShown: boolean): void {
    clearInterval(this.#tick);
    if (!isShown) return;
    this.#tick = setInterval(() => {
      this.#dispatch({ kind: "tick", at_ms: Date.now() });
      this.#app.redraw("soon");
    }, TICK_MS);
  }

  async close(): Promise<void> {
    clearInterval(this.#tick);
    this.#stop();
  }

  #dispatch(event: InboxEvent): void {
    const { inbox, effects } = reduceInbox(this.#inbox, event, this.#context());
    this.#inbox = inbox;
    for (const effect of effects) this.#carryOut(effect);
  }

  #context(): InboxContext {
    return this.#frame ?? FIRST_CONTEXT;
  }

  #carryOut(effect: InboxEffect): void {
    switch (effect.kind) {
      case "answer":
        void this.#answer(effect.item, effect.answer);
        break;
      case "whole":
        void this.#loadWhole(effect.row);
        break;
      case "open":
        this.#options.openSession(effect.session_id);
        break;
      default:
        this.#app[effect.kind]();
    }
  }

  async #answer(item: InboxItem, answer: Answer): Promise<void> {
    const notices = new Set<string>();
    const outcomes = await answerItem(item, answer, async (row) => {
      const notice = await this.#options.driver.respond(row, answer);
      if (notice !== undefined) notices.add(notice);
    });
    const at_ms = Date.now();
    const missed = outcomes.flatMap(({ row, problem }) => (problem === undefined ? [] : [row]));
    const words = describeOutcomes(outcomes, answer, this.#inbox.fleet.sessions);
    if (missed.length > 0) this.#dispatch({ kind: "not_answered", requests: missed, at_ms });
    const level = missed.length > 0 ? "error" : notices.size > 0 ? "warn" : "info";
    this.#dispatch({ kind: "report", level, text: [words, ...notices].join("; "), at_ms });
    this.#app.redraw("now");
  }

  async #loadWhole(row: RequestRow): Promise<void> {
    try {
      this.#dispatch({ kind: "whole", row: await this.#options.driver.wholeRequest(row) });
    } catch (error) {
      const text = `the request could not be loaded in full: ${toMessage(error)}`;
      this.#dispatch({ kind: "report", level: "error", text, at_ms: Date.now() });
    }
    this.#app.redraw("now");
  }
}
