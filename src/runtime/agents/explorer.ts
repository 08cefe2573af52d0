// A sub-agent for research: the files it reads do not fill the caller's conversation.
import { EXPLORER_PROMPT } from "./prompts.ts";
import { createReadOnlyRules, READING_TOOLS } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

export const explorer: AgentDefinition = {
  name: "explorer",
  displayName: "Explorer",
  description: "Read-only researcher: finds code and facts in the workspace and reports them with path:line.",
  mode: "subagent",
  prompt: { system: EXPLORER_PROMPT },
  tools: { visible: [...READING_TOOLS] },
  permissions: createReadOnlyRules("explorer is read-only"),
  delegation: { callable: true, canDelegate: false, invocationDecision: "allow" },
  catalog: {
    category: "researcher",
    cost: "cheap",
    useWhen: [
      "a question requires searching or reading many files, and only the answer matters",
      "you want to know where something is, how it works, or what a change would touch",
    ],
    avoidWhen: [
      "one or two searches of your own would answer it",
      "files need to be changed or commands run",
    ],
  },
};
