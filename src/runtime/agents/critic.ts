// A sub-agent that reviews with fresh eyes. Not called "reviewer": that is what people call their own.
import { CRITIC_PROMPT } from "./prompts.ts";
import { READING_TOOLS, readOnlyRules } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const critic: AgentDefinition = {
  name: "critic",
  displayName: "Critic",
  description: "Read-only reviewer: finds mistakes, risks and missing tests in a change or a plan.",
  mode: "subagent",
  prompt: { system: CRITIC_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: readOnlyRules("critic is read-only"),
  delegation: { callable: true, canDelegate: false, invocationDecision: "allow" },
  catalog: {
    category: "reviewer",
    cost: "cheap",
    useWhen: ["a change of some size is done, or a plan is made, and a second look is worth it"],
    avoidWhen: [
      "the change is trivial, or tests show already that it is right",
      "another reviewer is listed that fits better",
    ],
  },
};
