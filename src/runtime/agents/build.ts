// The general coding agent: it reads freely and asks before it writes or runs anything.
import { BUILD_PROMPT } from "./prompts.ts";
import type { AgentDefinition } from "./types.ts";

export const build: AgentDefinition = {
  name: "build",
  displayName: "Build",
  description: "General coding agent.",
  mode: "primary",
  prompt: { system: BUILD_PROMPT },
  tools: { visible: ["read_file", "write_file", "edit_file", "bash", "grep", "glob"] },
  permissions: [
    { tool: "read_file", decision: "allow" },
    { tool: "grep", decision: "allow" },
    { tool: "glob", decision: "allow" },
    { tool: "write_file", decision: "ask" },
    { tool: "edit_file", decision: "ask" },
    { tool: "bash", decision: "ask" },
    { tool: "*", match: { pathGlob: "**/.env" }, decision: "deny", reason: "secrets" },
    { tool: "*", match: { pathGlob: "**/.env.*" }, decision: "deny", reason: "secrets" },
    { tool: "*", match: { pathGlob: "node_modules/**" }, decision: "deny", reason: "vendored" },
  ],
};
