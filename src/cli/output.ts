// Where a program writes: results to stdout, everything else to stderr. All text is sanitized here. No styles if the
// stream is not a terminal or NO_COLOR is set.

import { styleText } from "node:util";
import { sanitize, sanitizeJson, sanitizeLine } from "../base/sanitize.ts";
import { cutToWidth, measureWidth, padToWidth } from "../base/width.ts";

export type Style = Parameters<typeof styleText>[0];

/** The part of a stream that is used here; tests pass an array-backed one. */
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
  /** Suppresses notes, not errors. */
  isQuiet?: boolean;
  /** Puts the name that the program was started by into our own text. */
  rename?: (text: string) => string;
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

  /** The width of the terminal; infinite if there is none. Some terminals report 0. */
  get columns(): number {
    return this.isTerminal ? this.#options.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** The number of writes so far. */
  get writes(): number {
    return this.#writes;
  }

  /** Streams text to stdout, at the speed of its reader. */
  async text(text: string): Promise<void> {
    const { stdout } = this.#options;
    this.#writes += 1;
    if (stdout.write(sanitize(text))) return;
    await waitForDrain(stdout);
  }

  line(text: string): Promise<void> {
    return this.text(`${text}\n`);
  }

  /** A line in one style, if any. */
  async styledLine(style: Style | undefined, text: string): Promise<void> {
    const { stdout } = this.#options;
    this.#writes += 1;
    if (stdout.write(`${this.#style(stdout, style, sanitize(text))}\n`)) return;
    await waitForDrain(stdout);
  }

  /** A line of pieces, each in a style. */
  async styledParts(parts: readonly (readonly [Style | undefined, string])[]): Promise<void> {
    const { stdout } = this.#options;
    this.#writes += 1;
    const line = parts.map(([style, text]) => this.#style(stdout, style, sanitizeLine(text))).join("");
    if (stdout.write(`${line}\n`)) return;
    await waitForDrain(stdout);
  }

  json(value: unknown): Promise<void> {
    return this.line(sanitizeJson(JSON.stringify(value)));
  }

  /** A note on stderr; --quiet suppresses it. */
  note(text: string): void {
    const { isQuiet, rename = (own: string) => own } = this.#options;
    if (!isQuiet) this.#writeTalk(rename(text), "dim");
  }

  /** Something the user must see; never suppressed. Untrusted text in it must already be escaped. */
  ask(text: string): void {
    this.#writeTalk(text, "yellow");
  }

  /** The width of stderr. */
  get talkColumns(): number {
    const { stderr } = this.#options;
    return stderr.isTTY === true ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
  }

  error(text: string): void {
    this.#writeTalk(text, "red");
  }

  style(style: Style, text: string): string {
    return this.#style(this.#options.stdout, style, text);
  }

  #writeTalk(text: string, style: Style): void {
    const { stderr } = this.#options;
    this.#writes += 1;
    stderr.write(`${this.#style(stderr, style, sanitize(text))}\n`);
  }

  #style(sink: Sink, style: Style | undefined, text: string): string {
    return style === undefined ? text : applyStyle(sink, this.#options.env ?? process.env, style, text);
  }
}

/** The document for programs, or the lines for users. */
export async function show(
  { output, isJson }: { output: Output; isJson: boolean },
  document: object,
  lines: () => readonly string[],
): Promise<0> {
  if (isJson) await output.json(document);
  else for (const line of lines()) await output.line(line);
  return 0;
}

/** Waits until the reader has taken what was written, or is gone. */
export function waitForDrain(sink: Sink): Promise<void> {
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

/** Plain text if this is not a terminal or colors are off. */
export function applyStyle(
  sink: Pick<Sink, "isTTY">,
  env: Readonly<Record<string, string | undefined>>,
  style: Style,
  text: string,
): string {
  if (sink.isTTY !== true || env["NO_COLOR"] || env["TERM"] === "dumb") return text;
  return styleText(style, text, { validateStream: false });
}

/** Aligned columns; lines are cut to `columns`. */
export function formatTable(rows: readonly (readonly string[])[], columns: number): string[] {
  const clean = rows.map((row) => row.map((cell) => sanitizeLine(cell)));
  const widths: number[] = [];
  for (const row of clean) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, measureWidth(cell));
    });
  }
  return clean.map((row) => {
    const line = row
      .map((cell, at) => (at === row.length - 1 ? cell : padToWidth(cell, widths[at] ?? 0)))
      .join("  ");
    return cutToWidth(line, columns).trimEnd();
  });
}
