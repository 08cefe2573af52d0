// The planning agent: it reads, and nothing else.
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { PLAN_PROMPT } from "./prompts.ts";
import { READING_TOOLS, readOnlyRules } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const plan: AgentDefinition = {
  name: "plan",
  displayName: "Plan",
  description: "Read-only planning agent.",
  mode: "primary",
  prompt: { system: PLAN_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: readOnlyRules("plan agent is read-only", [DELEGATE_TOOL]),
  // To those that only read as well: whatever else is configured, nothing is changed on its behalf.
  delegation: { allowedAgents: ["explorer", "critic"] },
};
