// What the next request contains, and what each part costs. Estimated, like all tokens here (estimate.ts).
import { joinParts, type PromptPart } from "../agents/system-prompt.ts";
import { type ModelMemory, previewContext, toToolSpecs } from "../model-request.ts";
import { isExternal } from "../providers/types.ts";
import type { Services } from "../services.ts";
import type { ContextPart, ContextReport } from "../session-types.ts";
import { estimateMessages, estimateText } from "./estimate.ts";

export function describeContext(
  services: Services,
  promptParts: readonly PromptPart[],
  memory: ModelMemory,
): ContextReport {
  const { provider } = services;
  const prompt = toPromptParts(promptParts);
  const about = { provider: provider.key, model: provider.model };
  if (isExternal(provider)) return { ...about, ...total(prompt) };
  const native = { ...services, provider };
  const tools = toToolSpecs(native);
  const { messages, view, limitTokens } = previewContext(native, tools, memory);
  const summary = view.draft.summary === undefined ? [] : messages.slice(1, 2);
  const rest = messages.slice(1 + summary.length);
  const parts: ContextPart[] = [
    ...prompt,
    { kind: "tools", name: count(tools.length, "tool"), tokens: estimateText(JSON.stringify(tools)) },
    ...(summary.length === 0
      ? []
      : [{ kind: "summary" as const, name: "summary of older messages", tokens: estimateMessages(summary) }]),
    { kind: "messages", name: count(rest.length, "message"), tokens: estimateMessages(rest) },
  ];
  return { ...about, ...total(parts), limitTokens, foldAtTokens: view.foldAtTokens };
}

function toPromptParts(parts: readonly PromptPart[]): ContextPart[] {
  const ours = parts.filter(({ file }) => file === undefined);
  const files = parts.flatMap(({ file, text, omittedBytes = 0 }): ContextPart[] => {
    if (file === undefined) return [];
    const part = { kind: "instructions", name: file, tokens: estimateText(text) } as const;
    return [omittedBytes === 0 ? part : { ...part, omittedBytes }];
  });
  return [{ kind: "system", name: "system prompt", tokens: estimateText(joinParts(ours)) }, ...files];
}

function total(parts: ContextPart[]): Pick<ContextReport, "parts" | "usedTokens"> {
  return { parts, usedTokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
