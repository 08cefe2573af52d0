// What is known about a model, for lists: "200k context · $3 / $15 per million · images, reasoning".
import type { ModelFacts } from "../../runtime/providers/models/facts.ts";

/** Empty: nothing is known. */
export function describeFacts({ contextTokens, price, ...facts }: ModelFacts): string {
  const { tools, images, reasoning } = facts;
  const abilities = [
    ...(tools === false ? ["no tools"] : []),
    ...(images === true ? ["images"] : []),
    ...(reasoning === true ? ["reasoning"] : []),
  ];
  return [
    ...(contextTokens === undefined ? [] : [`${formatCount(contextTokens)} context`]),
    ...(price === undefined ? [] : [formatPrice(price)]),
    ...(abilities.length === 0 ? [] : [abilities.join(", ")]),
  ].join(" · ");
}

function formatPrice({ input, output }: { input: number; output: number }): string {
  return input + output === 0 ? "free" : `$${input} / $${output} per million`;
}

function formatCount(tokens: number): string {
  const [size, unit] = tokens >= 1_000_000 ? [tokens / 1_000_000, "M"] : [tokens / 1000, "k"];
  return `${Number(size.toFixed(1))}${unit}`;
}
