// Options → command line, from a table. Refuses values that start with "-", which the agent would read as flags.
import { CodedError } from "../base/coded-error.ts";

export interface ArgRow {
  option: string;
  flag: string;
  /**
   * - `value`: `--flag value`; a value that starts with "-" is refused.
   * - `text`: the same, but free text is legitimate: a leading "-" goes out as `--flag=value`.
   * - `json`: a string as it is, anything else as compact JSON.
   * - `list`: the flag once, then all items. `repeat`: the flag before each item.
   * - `on` / `off`: the bare flag, when the option is true / exactly false.
   */
  kind: "value" | "text" | "json" | "list" | "repeat" | "on" | "off";
  /** The long form, if `flag` is a short one that cannot take "=". */
  long?: string;
}

type Build = (row: ArgRow, value: unknown, at: string) => string[];

const BUILD: Readonly<Record<ArgRow["kind"], Build>> = {
  value: (row, value, at) => [row.flag, plain(String(value), at)],
  text: (row, value, at) => {
    const text = withoutNul(String(value), at);
    return text.startsWith("-") ? [`${row.long ?? row.flag}=${text}`] : [row.flag, text];
  },
  json: (row, value, at) => [row.flag, plain(typeof value === "string" ? value : JSON.stringify(value), at)],
  list: (row, value, at) => {
    const items = plainItems(value, at);
    return items.length === 0 ? [] : [row.flag, ...items];
  },
  repeat: (row, value, at) => plainItems(value, at).flatMap((item) => [row.flag, item]),
  on: (row, value) => (value === true ? [row.flag] : []),
  off: (row, value) => (value === false ? [row.flag] : []),
};

/** Arguments in row order. `at` is the path of the options in the frame: `/options/claude`. */
export function optionsToArgv(
  rows: readonly ArgRow[],
  options: Readonly<Record<string, unknown>>,
  at: string,
): string[] {
  return rows.flatMap((row) => {
    const value = options[row.option];
    if (value === undefined || value === null) return [];
    return BUILD[row.kind](row, value, `${at}/${row.option}`);
  });
}

/** NUL would cut an argument or a path short. */
export function withoutNul(text: string, at: string): string {
  if (text.includes("\0")) throw new CodedError("invalid_message", `${at}: a NUL character is not allowed`);
  return text;
}

function plain(text: string, at: string): string {
  if (text.startsWith("-")) {
    throw new CodedError("unsafe_flag", `${at}: a value that starts with "-" would be read as a flag`);
  }
  return withoutNul(text, at);
}

function plainItems(value: unknown, at: string): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.map((item, index) => plain(String(item), `${at}/${index}`));
}
