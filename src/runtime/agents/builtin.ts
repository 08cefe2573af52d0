// The built-in agents. Their names are reserved.
import { build } from "./build.ts";
import { critic } from "./critic.ts";
import { explorer } from "./explorer.ts";
import { plan } from "./plan.ts";
import type { AgentDefinition } from "./types.ts";

export const BUILTIN_AGENTS: readonly AgentDefinition[] = [build, plan, explorer, critic];
