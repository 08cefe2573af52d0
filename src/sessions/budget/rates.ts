// How each backend counts tokens and what they cost, for the accounting of sessions. Pure.
import type { Backend } from "../../backends/types.ts";
import type { Price } from "../../protocol/budget.ts";
import { findPrice, type Rates } from "../core/spending.ts";

/** By backend, then by model; `""` is any other model. */
export type PriceTable = Readonly<Record<string, Readonly<Record<string, Price>>>>;

type Counting = Pick<Backend, "name" | "provider" | "inputHasCached" | "reportsCost">;

export function createRates(
  backends: readonly Counting[],
  prices: PriceTable = {},
): (backend: string) => Rates {
  const rates = new Map(backends.map((backend) => [backend.name, toRates(backend, prices)]));
  return (backend) => rates.get(backend) ?? { inputHasCached: false, prices: {} };
}

function toRates(
  { name, provider = name, inputHasCached, reportsCost }: Counting,
  prices: PriceTable,
): Rates {
  return {
    inputHasCached: inputHasCached === true,
    prices: { ...prices[provider], ...prices[name] },
    reportsCost: reportsCost === true,
  };
}

/** What to say about a limit on the cost of a session whose cost may never be known; undefined if it is. */
export function findPriceDoubt(
  { backend, model }: { backend: string; model: string | undefined },
  rates: Rates,
): string | undefined {
  if (rates.reportsCost === true || findPrice(rates.prices, model) !== undefined) return undefined;
  const what = model === undefined ? backend : `${backend} ${model}`;
  return `the limit on the cost counts only what ${what} reports, and it may report nothing: set a price in the configuration ([prices.${backend}]), or limit the tokens`;
}
