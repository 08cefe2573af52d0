// Reads tables of the config file that are named by the user, `[SECTION.NAME]`, against a table of keys; errors name the key.
import type * as z from "zod";
import { CodedError } from "../base/coded-error.ts";
import { isObject } from "../base/json.ts";
import { pickNearest } from "../base/nearest.ts";
import { findValueFault } from "./value-fault.ts";

export interface TableKey {
  check: z.ZodType;
  defaultText: string;
  meaning: string;
  /** Invalid values are not repeated. */
  isSecret?: true;
}

export interface TableShape<K extends Readonly<Record<string, TableKey>>> {
  section: string;
  keys: K;
  /** What a table must have at least: `command = "…"`. */
  least: string;
  /** Why the name is not valid; undefined if it is. */
  findNameFault(name: string): string | undefined;
}

export type TableValues<K extends Readonly<Record<string, TableKey>>> = {
  [N in keyof K]: z.infer<K[N]["check"]>;
};

/** `path`: the file, for messages. Throws `invalid_message`. */
export function readNamedTables<K extends Readonly<Record<string, TableKey>>>(
  value: unknown,
  path: string,
  shape: TableShape<K>,
): Record<string, TableValues<K>> {
  const { section } = shape;
  if (value === undefined) return {};
  if (!isObject(value)) throw badTableError(`${path}: ${section}: expected tables named [${section}.NAME]`);
  return Object.fromEntries(
    Object.entries(value).map(([name, table]) => [
      name,
      readTable(name, table, `${path}: ${section}.${name}`, shape),
    ]),
  );
}

function readTable<K extends Readonly<Record<string, TableKey>>>(
  name: string,
  table: unknown,
  at: string,
  { keys, least, findNameFault }: TableShape<K>,
): TableValues<K> {
  const fault = findNameFault(name);
  if (fault !== undefined) throw badTableError(`${at}: ${fault}`);
  if (!isObject(table)) throw badTableError(`${at}: expected a table with at least ${least}`);
  for (const key of Object.keys(table)) {
    if (Object.hasOwn(keys, key)) continue;
    const guess = pickNearest(key, Object.keys(keys));
    throw badTableError(
      `${at}.${key}: unknown key${guess === undefined ? "" : `; did you mean "${guess}"?`}`,
    );
  }
  const values = Object.entries(keys).map(([key, row]) => [key, pick(key, row, table[key], at)]);
  return Object.fromEntries(values) as TableValues<K>;
}

function pick(name: string, key: TableKey, value: unknown, at: string): unknown {
  const checked = key.check.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = [name, ...(issue?.path ?? [])].map(String).join(".");
  const why = value === undefined ? "required" : findValueFault(issue, value, key.isSecret);
  throw badTableError(`${at}.${place}: ${why}`);
}

export function badTableError(message: string): CodedError {
  return new CodedError("invalid_message", message);
}
