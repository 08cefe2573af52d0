// The planning agent: it reads, and nothing else.
import { PLAN_PROMPT } from "./prompts.ts";
import type { AgentDefinition } from "./types.ts";

export const plan: AgentDefinition = {
  name: "plan",
  displayName: "Plan",
  description: "Read-only planning agent.",
  mode: "primary",
  prompt: { system: PLAN_PROMPT },
  tools: { visible: ["read_file", "grep", "glob"] },
  permissions: [
    { tool: "read_file", decision: "allow" },
    { tool: "grep", decision: "allow" },
    { tool: "glob", decision: "allow" },
    { tool: "*", decision: "deny", reason: "plan agent is read-only" },
  ],
};
