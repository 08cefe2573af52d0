// What turns use, as budgets count it: cost, tokens, turns and time. Pure.
import { defined } from "../../base/values.ts";
import { readTokens } from "../../observe/index.ts";
import type { Price, Spent, TurnUse } from "../../protocol/budget.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { USAGE_KEYS, type Usage } from "../../protocol/usage.ts";
import type { Turn } from "./state.ts";

/** How a backend counts, and what its models cost. */
export interface Rates {
  readonly inputHasCached: boolean;
  /** By model; `""` is any other. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Its results have a cost. */
  readonly reportsCost?: boolean;
}

export const NO_RATES: Rates = { inputHasCached: false, prices: {} };
const NOTHING: Spent = {
  cost_usd: 0,
  tokens: 0,
  turns: 0,
  wall_ms: 0,
  unpriced_turns: 0,
  largest: { cost_usd: 0, tokens: 0 },
};
const MILLION = 1_000_000;

type Counted = Pick<SessionRow, "spent" | "turns" | "cumulative_usage" | "cost_usd">;

/** Rows of earlier versions have only the counters that views show. */
export function readSpent({ spent, turns, cumulative_usage, cost_usd }: Counted, rates: Rates): Spent {
  if (spent !== undefined) return spent;
  const tokens = countSpentTokens(cumulative_usage, rates);
  const isUnpriced = tokens > 0 && cost_usd === undefined;
  return { ...NOTHING, turns, tokens, cost_usd: cost_usd ?? 0, unpriced_turns: isUnpriced ? turns : 0 };
}

/** Output, and input that was not read from the cache. */
export function countSpentTokens(usage: Usage | undefined, { inputHasCached }: Rates): number {
  const { input_tokens = 0, output_tokens = 0 } = readTokens(usage, inputHasCached);
  return input_tokens + output_tokens;
}

/** The cost that the agent reports, else that of its tokens; undefined if neither is known. */
export function findCost(
  { usage, cost_usd }: Pick<TurnUse, "usage" | "cost_usd">,
  model: string | undefined,
  { inputHasCached, prices }: Rates,
): number | undefined {
  if (cost_usd !== undefined || usage === undefined) return cost_usd;
  const price = findPrice(prices, model);
  if (price === undefined) return undefined;
  const { input_tokens = 0, cached_tokens = 0, output_tokens = 0 } = readTokens(usage, inputHasCached);
  const { input, cached_input = input, output } = price;
  const cost = (input_tokens * input + cached_tokens * cached_input + output_tokens * output) / MILLION;
  return Number(cost.toFixed(10));
}

export function findPrice(prices: Rates["prices"], model: string | undefined): Price | undefined {
  return (model === undefined ? undefined : prices[model]) ?? prices[""];
}

/**
 * A result with at least what its agent reported before (of interrupted turns some report nothing), and the cost that
 * follows from the prices.
 */
export function completeResult<R extends ResultEvent>(
  result: R,
  used: Pick<TurnUse, "usage" | "cost_usd"> | undefined,
  model: string | undefined,
  rates: Rates,
): R {
  const usage = takeLarger(result.usage, used?.usage);
  const reported = result.cost_usd ?? used?.cost_usd;
  const cost_usd = findCost(defined({ usage, cost_usd: reported }), model, rates);
  if (usage === result.usage && cost_usd === result.cost_usd) return result;
  return { ...result, ...defined({ usage, cost_usd }) };
}

function takeLarger(final: Usage | undefined, before: Usage | undefined): Usage | undefined {
  if (final === undefined || before === undefined) return final ?? before;
  const larger = USAGE_KEYS.filter((key) => (before[key] ?? 0) > (final[key] ?? 0));
  if (larger.length === 0) return final;
  return { ...final, ...Object.fromEntries(larger.map((key) => [key, before[key] ?? 0])) };
}

/** Adds an ended turn. */
export function addTurn(before: Spent, result: ResultEvent, wall_ms: number, rates: Rates): Spent {
  const tokens = countSpentTokens(result.usage, rates);
  const { cost_usd = 0 } = result;
  const { largest } = before;
  return {
    cost_usd: addCost(before.cost_usd, cost_usd),
    tokens: before.tokens + tokens,
    turns: before.turns + 1,
    wall_ms: before.wall_ms + Math.max(0, Math.round(wall_ms)),
    unpriced_turns: before.unpriced_turns + (tokens > 0 && result.cost_usd === undefined ? 1 : 0),
    largest: {
      cost_usd: Math.max(largest.cost_usd, cost_usd),
      tokens: Math.max(largest.tokens, tokens),
    },
  };
}

export function addSpent(one: Spent, other: Spent): Spent {
  return {
    cost_usd: addCost(one.cost_usd, other.cost_usd),
    tokens: one.tokens + other.tokens,
    turns: one.turns + other.turns,
    wall_ms: one.wall_ms + other.wall_ms,
    unpriced_turns: one.unpriced_turns + other.unpriced_turns,
    largest: {
      cost_usd: Math.max(one.largest.cost_usd, other.largest.cost_usd),
      tokens: Math.max(one.largest.tokens, other.largest.tokens),
    },
  };
}

/** Time in a turn so far, without that spent waiting for answers. */
export function measureTurn({ started_at_ms, used, askingSinceMs }: Turn, nowMs: number): number {
  const waited = (used?.waited_ms ?? 0) + (askingSinceMs === undefined ? 0 : nowMs - askingSinceMs);
  return Math.max(0, nowMs - started_at_ms - waited);
}

/** Without float noise: no price has ten digits. */
function addCost(one: number, other: number): number {
  return Number((one + other).toFixed(10));
}
