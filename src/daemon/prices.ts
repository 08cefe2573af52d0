// Reads `[prices.BACKEND]` and `[prices."BACKEND/MODEL"]` of the config file; errors name the key.
import { CodedError } from "../base/coded-error.ts";
import { isObject } from "../base/json.ts";
import { Price } from "../protocol/budget.ts";
import type { PriceTable } from "../sessions/index.ts";
import { findValueFault } from "./value-fault.ts";

/** `path`: the file, for messages; `known`: the backends of this daemon. Throws `invalid_message`. */
export function readPrices(value: unknown, path: string, known: readonly string[]): PriceTable {
  if (value === undefined) return {};
  if (!isObject(value)) throw bad(`${path}: prices: expected tables named [prices.BACKEND]`);
  const table: Record<string, Record<string, Price>> = {};
  for (const [name, price] of Object.entries(value)) {
    const at = `${path}: prices.${JSON.stringify(name)}`;
    const slash = name.indexOf("/");
    const [backend, model] = slash < 0 ? [name, ""] : [name.slice(0, slash), name.slice(slash + 1)];
    if (slash >= 0 && model === "") throw bad(`${at}: expected a model after the slash`);
    if (!known.includes(backend))
      throw bad(`${at}: unknown backend "${backend}"; available: ${known.join(", ")}`);
    table[backend] = { ...table[backend], [model]: readPrice(price, at) };
  }
  return table;
}

function readPrice(value: unknown, at: string): Price {
  if (!isObject(value)) throw bad(`${at}: expected input = … and output = …, in USD per million tokens`);
  const checked = Price.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = (issue?.path ?? []).map(String).join(".");
  throw bad(
    `${at}${place === "" ? "" : `.${place}`}: ${findValueFault(issue, place === "" ? value : value[place])}`,
  );
}

function bad(message: string): CodedError {
  return new CodedError("invalid_message", message);
}
