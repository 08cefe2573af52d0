// The changes screen, over the session it belongs to: reads on demand, performs effects and draws.

import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { toFileKey } from "../../client/view/change-list.ts";
import type { OpenedFile } from "../../client/view/change-source.ts";
import { ChangesSource } from "../../client/view/change-source.ts";
import { describeUndo, toUndoQuestion } from "../../client/view/change-undo.ts";
import type { UndoBody } from "../../protocol/changes.ts";
import type { Line } from "../rows/style.ts";
import type { App, Input, Opener, Screen, Size } from "../screen-types.ts";
import type { SessionDriver } from "../types.ts";
import { countChangesRows, drawChanges, drawChangesHelp } from "./draw.ts";
import { drawFileLines } from "./lines.ts";
import {
  askToUndo,
  type ChangesEffect,
  type ChangesUi,
  FIRST_CHANGES_UI,
  getSelectedFile,
  onChangesInput,
  setChanges,
} from "./state.ts";

export interface ChangesScreenOptions {
  port: NonNullable<SessionDriver["changes"]>;
  /** Of the session. */
  title: string;
  isWorking: boolean;
}

export function createChangesScreen(options: ChangesScreenOptions): Opener {
  return (app) => new ChangesScreen(options, app);
}

class ChangesScreen implements Screen {
  readonly #title: string;
  readonly #port: ChangesScreenOptions["port"];
  readonly #app: App;
  readonly #source: ChangesSource;
  #ui: ChangesUi;
  #laid: { opened: OpenedFile | undefined; columns: number; lines: readonly Line[] } | undefined;

  constructor({ port, title, isWorking }: ChangesScreenOptions, app: App) {
    this.#title = title;
    this.#port = port;
    this.#app = app;
    this.#ui = { ...FIRST_CHANGES_UI, isWorking };
    this.#source = new ChangesSource(port, () => {
      this.#ui = setChanges(this.#ui, this.#source.state);
      app.redraw("soon");
    });
    void this.#source.refresh();
  }

  title(): string {
    return `changes: ${this.#title}`;
  }

  onInput(input: Input): void {
    const { columns, rows } = this.#app.size();
    const rowCount =
      this.#ui.mode.kind === "help" ? drawChangesHelp(columns).length : this.#lines(columns).length;
    const { ui, effects } = onChangesInput(this.#ui, input, { height: countChangesRows(rows), rowCount });
    this.#ui = ui;
    for (const effect of effects) this.#carryOut(effect);
  }

  draw(size: Size) {
    const { look } = this.#app;
    return {
      rows: drawChanges(this.#ui, size, { title: this.#title, look, lines: this.#lines(size.columns) }),
    };
  }

  async close(): Promise<void> {
    this.#source.close();
  }

  #carryOut(effect: ChangesEffect): void {
    switch (effect.kind) {
      case "read_file":
        void this.#source.openFile(effect.file);
        break;
      case "turn":
        void this.#source.selectTurn(effect.turn);
        break;
      case "plan_undo":
        void this.#planUndo(effect.turn);
        break;
      case "undo":
        void this.#undo(effect.order);
        break;
      case "more":
        void this.#source.readMore();
        break;
      case "refresh":
        void this.#source.refresh();
        break;
      case "back":
      case "suspend":
      case "repaint":
        this.#app[effect.kind]();
    }
  }

  async #planUndo(turn: number | undefined): Promise<void> {
    await this.#try(async () => {
      const plan = await this.#port.undo({ ...defined({ turn }), dry_run: true });
      const later = this.#source.state.reply?.turns.filter((one) => one.turn > plan.turn).length ?? 0;
      const question = toUndoQuestion(plan, later);
      if (question === undefined) this.#say(`Turn ${plan.turn} left no changes to undo.`);
      else this.#ui = askToUndo(this.#ui, question, plan.turn);
    });
  }

  async #undo(order: UndoBody): Promise<void> {
    await this.#try(async () => {
      this.#say("Undoing…");
      this.#say(describeUndo(await this.#port.undo(order)));
      await this.#source.refresh();
    });
  }

  async #try(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#say(toMessage(error)));
    this.#app.redraw("soon");
  }

  #say(notice: string): void {
    this.#ui = { ...this.#ui, notice };
    this.#app.redraw("soon");
  }

  /** Laid out again only if the file or the width differs. */
  #lines(columns: number): readonly Line[] {
    const file = getSelectedFile(this.#ui);
    if (this.#ui.mode.kind !== "file" || file === undefined) return [];
    const opened = this.#ui.changes.opened.get(toFileKey(file));
    const laid = this.#laid;
    if (laid !== undefined && laid.opened === opened && laid.columns === columns && opened !== undefined)
      return laid.lines;
    const lines = drawFileLines(file, opened, columns);
    this.#laid = { opened, columns, lines };
    return lines;
  }
}
