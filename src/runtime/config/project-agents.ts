// Agents that come with a project: their prompts are used, with a warning, but they cannot grant themselves rights.
// Trust lets them read without asking and choose among the user's providers.
import { isObject, type JsonObject } from "../../base/json.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { joinNames } from "./fewer.ts";
import type { DemianConfig } from "./schema.ts";
import { explainHowToTrust } from "./trust.ts";

const TOOLS = [
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
  DELEGATE_TOOL,
];
const READING = ["read_file", "grep", "glob"];
/** The same limit as for agent files; thousands would slow down every start. */
const MAX_AGENTS = 100;

export interface ProjectAgentsOrder {
  base: DemianConfig;
  path: string;
  isTrusted: boolean;
}

export interface ProjectAgentOrder extends Omit<ProjectAgentsOrder, "path"> {
  /** How the user can allow what needs trust. */
  howToTrust: string;
  /** Tools it may see besides the built-in ones. */
  moreTools: readonly string[];
}

/** `key` is relative to the agent: `permissions/0`, `delegation.invocationDecision`. */
export type Refuse = (key: string, why: string, instead?: string) => void;

/** `agents` is already validated. */
export function restrictAgents(
  agents: JsonObject,
  order: ProjectAgentsOrder,
  refuse: Refuse,
  warnings: string[],
): JsonObject {
  const kept: JsonObject = {};
  const all = Object.entries(agents);
  if (all.length > MAX_AGENTS)
    warnings.push(`${order.path} contains ${all.length} agents; only the first ${MAX_AGENTS} are used`);
  for (const [name, agent] of all.slice(0, MAX_AGENTS)) {
    const key = `agents.${name}`;
    if (Object.hasOwn(order.base.agents, name))
      refuse(key, "you have an agent with that name", "rename one of them");
    else if (isObject(agent))
      kept[name] = restrictAgent(
        agent,
        { ...order, howToTrust: explainHowToTrust(order.path), moreTools: [] },
        (part, why, instead) => refuse(`${key}.${part}`, why, instead),
      );
  }
  const names = Object.keys(kept);
  if (names.length > 0 && !order.isTrusted)
    warnings.push(`${order.path} contains agents whose prompts you did not write: ${joinNames(names)}`);
  return kept;
}

/** `agent` is already validated. */
export function restrictAgent(agent: JsonObject, order: ProjectAgentOrder, refuse: Refuse): JsonObject {
  const kept: JsonObject = { ...agent };
  const mayAllow = (rule: unknown) =>
    order.isTrusted &&
    isObject(rule) &&
    READING.includes(stripPrefix(rule["tool"])) &&
    rule["match"] === undefined;
  const keepRules = (rules: unknown, at: string) =>
    (Array.isArray(rules) ? rules : []).filter((rule: unknown, index) => {
      if (!isObject(rule) || rule["decision"] !== "allow" || mayAllow(rule)) return true;
      const isReading = READING.includes(stripPrefix(rule["tool"]));
      refuse(`${at}/${index}`, "it may not allow anything", isReading ? order.howToTrust : undefined);
      return false;
    });
  if ("permissions" in kept) kept["permissions"] = keepRules(kept["permissions"], "permissions");
  for (const [holder, at] of [
    [kept, "defaultDecision"],
    [kept["authority"], "authority.defaultDecision"],
  ] as const) {
    if (!isObject(holder) || holder["defaultDecision"] !== "allow") continue;
    refuse(at, "it may not allow anything");
    if (holder === kept) delete kept["defaultDecision"];
    else kept["authority"] = { ...holder, defaultDecision: undefined };
  }
  if (isObject(kept["authority"]) && "permissions" in kept["authority"]) {
    const permissions = keepRules(kept["authority"]["permissions"], "authority.permissions");
    kept["authority"] = { ...kept["authority"], permissions };
  }
  restrictInvocation(kept, order, refuse);
  if (isObject(kept["provider"]) && !order.isTrusted) {
    const { profile = order.base.defaultProvider } = kept["provider"];
    if (profile !== order.base.defaultProvider)
      refuse("provider", "it may not choose where your data and keys go", order.howToTrust);
    // Nor the default provider, if another was chosen for the session.
    delete kept["provider"];
  }
  if (isObject(kept["tools"]) && Array.isArray(kept["tools"]["visible"])) {
    const known = [...TOOLS, ...order.moreTools];
    const visible = kept["tools"]["visible"].filter((tool: unknown) => {
      if (known.includes(stripPrefix(tool))) return true;
      refuse("tools.visible", `it may only see ${known.join(", ")}, not ${String(tool)}`);
      return false;
    });
    kept["tools"] = { ...kept["tools"], visible };
  }
  return kept;
}

/** It always needs the user's approval, whatever the default for the user's own agents. */
function restrictInvocation(kept: JsonObject, { isTrusted }: ProjectAgentOrder, refuse: Refuse): void {
  const delegation = isObject(kept["delegation"]) ? kept["delegation"] : {};
  const { invocationDecision } = delegation;
  if (invocationDecision === "allow") refuse("delegation.invocationDecision", "it may not allow anything");
  if (invocationDecision === "deny" || (isTrusted && invocationDecision !== "allow")) return;
  kept["delegation"] = { ...delegation, invocationDecision: "ask" };
}

/** `demian.bash` is `bash`. */
function stripPrefix(tool: unknown): string {
  return String(tool).replace(/^demian\./, "");
}
