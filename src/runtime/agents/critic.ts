// A sub-agent that reviews with fresh eyes. Not called "reviewer", a name users like to use.
import { CRITIC_PROMPT } from "./prompts.ts";
import { createReadOnlyRules, READING_TOOLS } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const critic: AgentDefinition = {
  name: "critic",
  displayName: "Critic",
  description: "Read-only reviewer: finds mistakes, risks and missing tests in a change or a plan.",
  mode: "subagent",
  prompt: { system: CRITIC_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: createReadOnlyRules("critic is read-only"),
  delegation: { callable: true, canDelegate: false, invocationDecision: "allow" },
  catalog: {
    category: "reviewer",
    cost: "cheap",
    useWhen: ["a larger change is done, or a plan is ready, and a second look is worth it"],
    avoidWhen: [
      "the change is trivial, or tests already show that it is right",
      "another listed reviewer fits better",
    ],
  },
};
