// The built-in agents. Their names are reserved.

import { DELEGATE_TOOL } from "../delegation/types.ts";
import { BUILD_PROMPT, CRITIC_PROMPT, EXPLORER_PROMPT, PLAN_PROMPT } from "./prompts.ts";
import { createReadOnlyRules, READING_TOOLS } from "./read-only.ts";
import type { AgentDefinition } from "./types.ts";

/** Reads freely, and asks before it writes or runs anything. */
const build: AgentDefinition = {
  name: "build",
  displayName: "Build",
  description: "General coding agent.",
  mode: "primary",
  prompt: { system: BUILD_PROMPT },
  tools: {
    visible: [
      "read_file",
      "write_file",
      "edit_file",
      "apply_patch",
      "bash",
      "grep",
      "glob",
      "todo",
      "tail_job",
      "kill_job",
      "web_fetch",
      "skill",
      "mcp__*",
    ],
  },
  permissions: [
    { tool: "read_file", decision: "allow" },
    { tool: "grep", decision: "allow" },
    { tool: "glob", decision: "allow" },
    { tool: "web_fetch", decision: "ask" },
    { tool: "todo", decision: "allow" },
    { tool: "tail_job", decision: "allow" },
    { tool: "kill_job", decision: "allow" },
    { tool: "write_file", decision: "ask" },
    { tool: "edit_file", decision: "ask" },
    { tool: "apply_patch", decision: "ask" },
    { tool: "bash", decision: "ask" },
    { tool: "*", match: { pathGlob: "**/.env" }, decision: "deny", reason: "secrets" },
    { tool: "*", match: { pathGlob: "**/.env.*" }, decision: "deny", reason: "secrets" },
    { tool: "*", match: { pathGlob: "node_modules/**" }, decision: "deny", reason: "vendored" },
  ],
};

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

/** Reviews with fresh eyes. Not called "reviewer", a name users like to use. */
const critic: AgentDefinition = {
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

/** For research: the files it reads do not fill the caller's conversation. */
const explorer: AgentDefinition = {
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

export const BUILTIN_AGENTS: readonly AgentDefinition[] = [build, plan, explorer, critic];
