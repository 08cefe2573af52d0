// Where a program writes: stdout is the answer, stderr is talk. All text that came from elsewhere passes the
// sanitiser here and nowhere else. Plain when the stream is no terminal or NO_COLOR is set.
import { styleText } from "node:util";
import { sanitize, sanitizeJson, sanitizeLine } from "../base/sanitize.ts";
import { columnsOf, cutToColumns, padToColumns } from "./columns.ts";

export type Style = Parameters<typeof styleText>[0];

/** The part of a stream that we use; tests give an array-backed one. */
export interface Sink {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): boolean;
  once(event: "drain" | "error", listener: () => void): unknown;
  removeListener(event: "drain" | "error", listener: () => void): unknown;
}

export interface OutputOptions {
  stdout: Sink;
  stderr: Sink;
  env?: Readonly<Record<string, string | undefined>>;
  /** Leaves the talk out; errors are still told. */
  isQuiet?: boolean;
  /** How our own words are said: in the name of the program that was called. */
  inOwnWords?: (text: string) => string;
}

export class Output {
  readonly #options: OutputOptions;
  #writes = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  get isTerminal(): boolean {
    return this.#options.stdout.isTTY === true;
  }

  /** How wide a table may be; not limited when nobody looks at it on a screen. A screen of width 0 does not know. */
  get columns(): number {
    return this.isTerminal ? this.#options.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** How often something was written, to find out whether anything was since. */
  get writes(): number {
    return this.#writes;
  }

  /** Text that others wrote, as it streams in. Waits while the reader of our stdout is slow. */
  async text(text: string): Promise<void> {
    const { stdout } = this.#options;
    this.#writes += 1;
    if (stdout.write(sanitize(text))) return;
    await drained(stdout);
  }

  line(text: string): Promise<void> {
    return this.text(`${text}\n`);
  }

  /** A line in one style; what others wrote in it cannot bring its own. */
  async styledLine(style: Style, text: string): Promise<void> {
    const { stdout } = this.#options;
    this.#writes += 1;
    if (stdout.write(`${this.#styled(stdout, style, sanitize(text))}\n`)) return;
    await drained(stdout);
  }

  /** One frame as one line of JSON. */
  json(value: unknown): Promise<void> {
    return this.line(sanitizeJson(JSON.stringify(value)));
  }

  /** Talk: what is going on. */
  note(text: string): void {
    const { isQuiet, inOwnWords = (words) => words } = this.#options;
    if (!isQuiet) this.#talk(inOwnWords(text), "dim");
  }

  /** What a person must see to go on; never left out. Others' text in it was made safe for its place already. */
  ask(text: string): void {
    this.#talk(text, "yellow");
  }

  /** How wide the talk may be. */
  get talkColumns(): number {
    const { stderr } = this.#options;
    return stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  }

  error(text: string): void {
    this.#talk(text, "red");
  }

  style(style: Style, text: string): string {
    return this.#styled(this.#options.stdout, style, text);
  }

  #talk(text: string, style: Style): void {
    const { stderr } = this.#options;
    this.#writes += 1;
    stderr.write(`${this.#styled(stderr, style, sanitize(text))}\n`);
  }

  #styled(sink: Sink, style: Style, text: string): string {
    return styled(sink, this.#options.env ?? process.env, style, text);
  }
}

/** Waits until the reader has taken what was written, or is gone: then nothing is taken any more. */
export function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sink.removeListener("drain", done);
      sink.removeListener("error", done);
      resolve();
    };
    sink.once("drain", done);
    sink.once("error", done);
  });
}

/** Plain where nobody looks at a screen, or where colours are not wanted. */
export function styled(
  sink: Pick<Sink, "isTTY">,
  env: Readonly<Record<string, string | undefined>>,
  style: Style,
  text: string,
): string {
  if (sink.isTTY !== true || env["NO_COLOR"] || env["TERM"] === "dumb") return text;
  return styleText(style, text, { validateStream: false });
}

/** Aligned columns; the last one is cut to what is left of `columns`. */
export function table(rows: readonly (readonly string[])[], columns: number): string[] {
  const clean = rows.map((row) => row.map((cell) => sanitizeLine(cell)));
  const widths: number[] = [];
  for (const row of clean) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, columnsOf(cell));
    });
  }
  return clean.map((row) => {
    const line = row
      .map((cell, at) => (at === row.length - 1 ? cell : padToColumns(cell, widths[at] ?? 0)))
      .join("  ");
    return cutToColumns(line, columns).trimEnd();
  });
}
