// The report of /context as text, for the terminal and for editors.
import type { ContextPart, ContextReport } from "../session-types.ts";

export function formatContextReport(report: ContextReport): string {
  const { provider, model, usedTokens, limitTokens, foldAtTokens } = report;
  const parts = report.parts.map((part) => [describePart(part), formatNumber(part.tokens)] as const);
  const free =
    limitTokens === undefined ? [] : [["free", formatNumber(Math.max(0, limitTokens - usedTokens))] as const];
  const rows = [...parts, ...free];
  const name = Math.max(...rows.map(([text]) => text.length));
  const number = Math.max(...rows.map(([, text]) => text.length));
  const lines = rows.map(([text, tokens]) => `  ${text.padEnd(name)}  ${tokens.padStart(number)}`);
  const used = `about ${formatNumber(usedTokens)}`;
  const share =
    limitTokens === undefined
      ? "tokens"
      : `of ${formatNumber(limitTokens)} tokens (${percent(usedTokens, limitTokens)})`;
  return [
    `context of ${provider} ${model}: ${used} ${share}`,
    ...lines,
    limitTokens === undefined
      ? "The agent manages the rest of its context itself."
      : `Older messages are folded into a summary at about ${formatNumber(foldAtTokens ?? limitTokens)} tokens.`,
  ].join("\n");
}

function describePart({ name, omittedBytes }: ContextPart): string {
  return omittedBytes === undefined ? name : `${name} (${formatNumber(omittedBytes)} bytes left out)`;
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}

function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}
