// A sub-agent that looks things up, so that what it reads on the way does not fill the conversation of the one who asks.
import { EXPLORER_PROMPT } from "./prompts.ts";
import { READING_TOOLS, readOnlyRules } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const explorer: AgentDefinition = {
  name: "explorer",
  displayName: "Explorer",
  description: "Read-only researcher: finds code and facts in the workspace and reports them with path:line.",
  mode: "subagent",
  prompt: { system: EXPLORER_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: readOnlyRules("explorer is read-only"),
  delegation: { callable: true, canDelegate: false, invocationDecision: "allow" },
  catalog: {
    category: "researcher",
    cost: "cheap",
    useWhen: [
      "a question needs many files to be searched or read, and only the answer matters",
      "you want to know where something is, how it works, or what a change would touch",
    ],
    avoidWhen: ["one or two searches of your own answer it", "files have to be changed or commands run"],
  },
};
