// An agent is a policy: a prompt, the tools it sees, their default permissions, and a provider by name.
import type { Decision, PermissionRule } from "../permissions/types.ts";

export interface AgentDefinition {
  name: string;
  displayName?: string;
  description: string;
  mode: "primary" | "subagent" | "all";
  hidden?: boolean;
  /** A key of the configured providers; never an endpoint. */
  provider?: { profile?: string; inheritRoot?: boolean };
  prompt: { system: string; append?: string };
  tools: { visible: string[] };
  permissions: PermissionRule[];
  defaultDecision?: Decision;
  delegation?: {
    callable?: boolean;
    canDelegate?: boolean;
    allowedAgents?: string[];
    deniedAgents?: string[];
    maxDepth?: number;
    invocationDecision?: Decision;
  };
  catalog?: {
    category?: string;
    cost?: string;
    useWhen?: string[];
    avoidWhen?: string[];
    triggers?: string[];
  };
}

export interface RegistrySource {
  scope: "builtin" | "user" | "project" | "programmatic";
  path?: string;
  trusted: boolean;
}
