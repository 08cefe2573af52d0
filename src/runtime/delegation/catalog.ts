// The catalog of sub-agents in a system prompt. Agent texts are untrusted: each stays on its own line, so none can look
// like another entry.
import type { AgentDefinition } from "../agents/types.ts";
import { estimateText } from "../context/estimate.ts";
import { toOneLine } from "../context/one-line.ts";
import { DELEGATE_TOOL } from "./types.ts";

const HEAD = `Available sub agents (use ${DELEGATE_TOOL} to invoke):`;
const CATALOG_TOKENS = 2000;
const DESCRIPTION_CHARS = 1000;
const HINT_CHARS = 300;
const LABEL_CHARS = 40;
/** Description lengths to try when space is short; at 0 only names are left. */
const SHORTER_CHARS = [400, 200, 100, 50, 0];

/** Always contains the names. Empty: no sub-agents. */
export function renderCatalog(agents: readonly AgentDefinition[], maxTokens = CATALOG_TOKENS): string {
  if (agents.length === 0) return "";
  let text = render(agents, DESCRIPTION_CHARS, true);
  for (const chars of [DESCRIPTION_CHARS, ...SHORTER_CHARS]) {
    if (estimateText(text) <= maxTokens) return text;
    text = render(agents, chars, false);
  }
  return text;
}

function render(agents: readonly AgentDefinition[], descriptionChars: number, hasHints: boolean): string {
  const entries = agents.map((agent) => renderEntry(agent, descriptionChars, hasHints));
  // A blank line between multi-line entries, unless space is short.
  return [HEAD, "", entries.join(hasHints ? "\n\n" : "\n")].join("\n");
}

function renderEntry(
  { name, description, catalog }: AgentDefinition,
  chars: number,
  hasHints: boolean,
): string {
  const labels = [catalog?.category, catalog?.cost].flatMap((label) => {
    const line = toOneLine(label ?? "", LABEL_CHARS);
    return line === "" ? [] : [line];
  });
  const head = `- ${toOneLine(name, HINT_CHARS)}`;
  if (chars === 0) return head;
  const kind = labels.length === 0 ? "" : ` (${labels.join(", ")})`;
  const first = `${head}${kind}: ${toOneLine(description, chars)}`;
  if (!hasHints) return first;
  return [
    first,
    ...renderHint("Use when", catalog?.useWhen),
    ...renderHint("Avoid when", catalog?.avoidWhen),
  ].join("\n");
}

function renderHint(title: string, items: readonly string[] = []): string[] {
  const lines = items.map((item) => toOneLine(item, HINT_CHARS)).filter((line) => line !== "");
  return lines.length === 0 ? [] : [`  ${title}: ${lines.join("; ")}`];
}
