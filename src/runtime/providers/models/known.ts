// Facts about the models of the presets' vendors, by name, for what the vendors' lists leave out. Prices: the vendors' price
// pages, November 2026; a price that depends on the length of a request, or is temporary, is left out.
import type { ModelFacts, Price } from "./facts.ts";

const VISION = { tools: true, images: true };
const THINKER = { ...VISION, reasoning: true };
const CLAUDE_5: ModelFacts = { ...THINKER, contextTokens: 1_000_000, outputTokens: 128_000 };

/** The first match counts. */
const BY_NAME: readonly (readonly [RegExp, ModelFacts])[] = [
  [/^claude-(fable|mythos)-5-[12]/, { ...CLAUDE_5, price: price(10, 50, 0.25, 12.5) }],
  [/^claude-(fable|mythos)-5/, { ...CLAUDE_5, price: price(10, 50, 1, 12.5) }],
  [/^claude-opus-5-5/, { ...CLAUDE_5, price: price(4, 20, 0.2, 5) }],
  [/^claude-opus-5/, { ...CLAUDE_5, price: price(5, 25, 0.5, 6.25) }],
  [/^claude-sonnet-5-5/, { ...CLAUDE_5, price: price(2, 10, 0.1, 2.5) }],
  [/^claude-sonnet-5/, { ...CLAUDE_5, price: price(2, 10, 0.2, 2.5) }],
  [/^claude-haiku-5/, CLAUDE_5],
  [/^claude-opus-4-[5-8]/, { ...THINKER, contextTokens: 200_000, price: price(5, 25, 0.5, 6.25) }],
  [/^claude-sonnet-4/, { ...THINKER, contextTokens: 200_000, price: price(3, 15, 0.3, 3.75) }],
  [
    /^claude-haiku-4-5/,
    { ...THINKER, contextTokens: 200_000, outputTokens: 64_000, price: price(1, 5, 0.1, 1.25) },
  ],
  [/^claude-3-[0-5]|^claude-3-(opus|sonnet|haiku)/, { ...VISION, reasoning: false, contextTokens: 200_000 }],
  [/^claude-/, { ...VISION, contextTokens: 200_000 }],
  [/^gpt-4\.1/, { ...VISION, reasoning: false, contextTokens: 1_000_000 }],
  [/^(gpt-4o|gpt-4-turbo|chatgpt-4o)/, { ...VISION, reasoning: false, contextTokens: 128_000 }],
  // The window is larger, but requests above this size cost twice as much.
  [
    /^gpt-5\.5(?!-pro)/,
    { ...THINKER, contextTokens: 272_000, outputTokens: 128_000, price: price(5, 30, 0.5) },
  ],
  [/^gpt-[5-9]/, { ...THINKER, contextTokens: 272_000 }],
  [/^o[1-9](-|$)/, { reasoning: true, contextTokens: 128_000 }],
  [/^gemini-/, { ...VISION, contextTokens: 1_000_000 }],
  [/^grok-/, { tools: true, contextTokens: 128_000 }],
];

/** A prefix as in "anthropic/claude-x" is ignored. */
export function findKnownFacts(model: string): ModelFacts | undefined {
  const name = model.toLowerCase().slice(model.lastIndexOf("/") + 1);
  return BY_NAME.find(([shape]) => shape.test(name))?.[1];
}

function price(input: number, output: number, cacheRead: number, cacheWrite?: number): Price {
  return cacheWrite === undefined ? { input, output, cacheRead } : { input, output, cacheRead, cacheWrite };
}
