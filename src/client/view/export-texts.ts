// What the forms of an export have in common. Pure.
import type { SessionView } from "../../protocol/views.ts";
import { formatCost, formatTool, formatToolStatus, getSessionName } from "./format.ts";
import type { Entry, ToolEntry } from "./types.ts";

export type ExportedEntry = Entry;

export function describeExport(session: SessionView): { title: string; facts: [string, string][] } {
  const { session_id, provider, model, project, cwd, started_at_ms, turns, cost_usd } = session;
  const facts: [string, string | undefined][] = [
    ["Session", session_id],
    ["Agent", [provider, model].filter((part) => part !== undefined).join(", ")],
    ["Project", project ?? cwd],
    ["Started", new Date(started_at_ms).toISOString()],
    ["Turns", String(turns)],
    ["Cost", cost_usd === undefined ? undefined : formatCost(cost_usd)],
  ];
  return {
    title: getSessionName(session),
    facts: facts.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]])),
  };
}

export function formatWhen({ at_ms }: Pick<Entry, "at_ms">): string {
  return at_ms === undefined ? "" : ` (${new Date(at_ms).toISOString().slice(0, 19).replace("T", " ")} UTC)`;
}

export function formatToolHead(tool: ToolEntry): string {
  const status = formatToolStatus(tool);
  const exit = tool.exit_code === undefined || tool.exit_code === 0 ? "" : `, exit code ${tool.exit_code}`;
  return `${formatTool(tool)} (${status}${exit})`;
}

export function listChangeTexts({ changes = [] }: ToolEntry): { path: string; diff: string }[] {
  return changes.flatMap(({ path, diff }) => (diff === undefined ? [] : [{ path, diff }]));
}
