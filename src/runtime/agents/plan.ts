// The planning agent: read-only.
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { PLAN_PROMPT } from "./prompts.ts";
import { createReadOnlyRules, READING_TOOLS } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const plan: AgentDefinition = {
  name: "plan",
  displayName: "Plan",
  description: "Read-only planning agent.",
  mode: "primary",
  prompt: { system: PLAN_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: createReadOnlyRules("plan agent is read-only", [DELEGATE_TOOL]),
  // Applies to read-only agents too: whatever is configured, nothing is changed on its behalf.
  delegation: { allowedAgents: ["explorer", "critic"] },
};
