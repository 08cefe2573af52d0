// The system prompt of a session: the agent's own text, then what it should know of where it runs.
import type { AgentDefinition } from "./types.ts";

/** `envInfo`: what hooks tell at the start of a session (hooks/builtin/inject-env-info.ts). */
export function buildSystemPrompt(agent: AgentDefinition, envInfo?: string): string {
  return [agent.prompt.system, agent.prompt.append, envInfo]
    .map((part) => part?.trim())
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}
