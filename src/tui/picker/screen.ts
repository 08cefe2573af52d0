// A picker on its own, before the screen that it decides about.
import { runApp } from "../app.ts";
import type { Frame } from "../paint.ts";
import { createPiece, STYLE } from "../rows/style.ts";
import type { App, Input, Opener, Screen, Size, TerminalIo } from "../screen-types.ts";
import { drawLine } from "../theme.ts";
import type { PickerOption } from "../types.ts";
import { fillPicker, onPickerInput, openPicker, type PickerState } from "./picker.ts";
import { drawPicker } from "./rows.ts";

export interface PickerScreenOptions {
  io: TerminalIo;
  title: string;
  options: readonly PickerOption[];
}

const HINT = "Up, Down and Enter select · typing filters · Esc closes";

/** The value of the chosen option; undefined if the list was closed. */
export async function runPickerScreen(options: PickerScreenOptions): Promise<string | undefined> {
  let chosen: string | undefined;
  const take = (value: string): void => {
    chosen = value;
  };
  await runApp({ io: options.io, first: createPickerScreen(options, take) });
  return chosen;
}

export function createPickerScreen(
  options: Omit<PickerScreenOptions, "io">,
  take: (value: string) => void,
): Opener {
  return (app) => new PickerScreen(app, options, take);
}

class PickerScreen implements Screen {
  readonly #app: App;
  readonly #title: string;
  readonly #take: (value: string) => void;
  #picker: PickerState;

  constructor(app: App, { title, options }: Omit<PickerScreenOptions, "io">, take: (value: string) => void) {
    this.#app = app;
    this.#title = title;
    this.#take = take;
    // A key with a slash: what is typed filters, and never becomes a message.
    this.#picker = fillPicker(openPicker({ key: "/resume", title }), options);
  }

  title(): string {
    return this.#title;
  }

  onInput(input: Input): void {
    const step = onPickerInput(this.#picker, input);
    if (step.kind === "open") this.#picker = step.picker;
    if (step.kind === "chosen") this.#take(step.value);
    if (step.kind === "chosen" || step.kind === "closed") this.#app.back();
  }

  draw({ columns, rows }: Size): Frame {
    const { look } = this.#app;
    const hint = drawLine([createPiece(HINT, STYLE.dim)], columns, look);
    const drawn = drawPicker(this.#picker, columns, rows - 1, look);
    const gap = Array.from({ length: Math.max(0, rows - 1 - drawn.length) }, () => "");
    return { rows: [...drawn, ...gap, hint].slice(0, rows) };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
