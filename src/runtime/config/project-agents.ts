// Agents that come with a project: their prompts are data and are taken, with a warning; what they may do is not theirs to
// say. Trust lets them read without being asked, and choose among the user's providers.
import { isObject, type JsonObject } from "../../base/json.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import { fewerNames } from "./fewer.ts";
import type { DemianConfig } from "./schema.ts";
import { howToTrust } from "./trust.ts";

const TOOLS = ["read_file", "write_file", "edit_file", "bash", "grep", "glob", DELEGATE_TOOL];
const READING = ["read_file", "grep", "glob"];
/** As many as there may be in files; with thousands every start would take long. */
const MAX_AGENTS = 100;

export interface AgentsOrder {
  base: DemianConfig;
  path: string;
  isTrusted: boolean;
}

export interface AgentOrder extends Omit<AgentsOrder, "path"> {
  /** What a person does who wants what only trust allows. */
  howToTrust: string;
  /** Tools that it may see besides the built-in ones. */
  moreTools: readonly string[];
}

/** `key` is below the agent: `permissions/0`, `delegation.invocationDecision`. */
export type Refuse = (key: string, why: string, instead?: string) => void;

/** `agents` has the right shape. */
export function restrictAgents(
  agents: JsonObject,
  order: AgentsOrder,
  refuse: Refuse,
  warnings: string[],
): JsonObject {
  const kept: JsonObject = {};
  const all = Object.entries(agents);
  if (all.length > MAX_AGENTS)
    warnings.push(`${order.path} brings ${all.length} agents; the first ${MAX_AGENTS} are taken`);
  for (const [name, agent] of all.slice(0, MAX_AGENTS)) {
    const key = `agents.${name}`;
    if (Object.hasOwn(order.base.agents, name))
      refuse(key, "you have an agent of that name", "rename one of them");
    else if (isObject(agent))
      kept[name] = restrictAgent(
        agent,
        { ...order, howToTrust: howToTrust(order.path), moreTools: [] },
        (part, why, instead) => refuse(`${key}.${part}`, why, instead),
      );
  }
  const names = Object.keys(kept);
  if (names.length > 0 && !order.isTrusted)
    warnings.push(`${order.path} brings agents whose prompts you did not write: ${fewerNames(names)}`);
  return kept;
}

/** `agent` has the right shape. */
export function restrictAgent(agent: JsonObject, order: AgentOrder, refuse: Refuse): JsonObject {
  const kept: JsonObject = { ...agent };
  const mayAllow = (rule: unknown) =>
    order.isTrusted && isObject(rule) && READING.includes(bare(rule["tool"])) && rule["match"] === undefined;
  const keepRules = (rules: unknown, at: string) =>
    (Array.isArray(rules) ? rules : []).filter((rule: unknown, index) => {
      if (!isObject(rule) || rule["decision"] !== "allow" || mayAllow(rule)) return true;
      const isReading = READING.includes(bare(rule["tool"]));
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
    // Nor the default one, where somebody chose another for the session.
    delete kept["provider"];
  }
  if (isObject(kept["tools"]) && Array.isArray(kept["tools"]["visible"])) {
    const known = [...TOOLS, ...order.moreTools];
    const visible = kept["tools"]["visible"].filter((tool: unknown) => {
      if (known.includes(bare(tool))) return true;
      refuse("tools.visible", `it may only see ${known.join(", ")}, not ${String(tool)}`);
      return false;
    });
    kept["tools"] = { ...kept["tools"], visible };
  }
  return kept;
}

/** Nobody starts it without a person's consent, whatever the user has for agents of his own. */
function restrictInvocation(kept: JsonObject, { isTrusted }: AgentOrder, refuse: Refuse): void {
  const delegation = isObject(kept["delegation"]) ? kept["delegation"] : {};
  const { invocationDecision } = delegation;
  if (invocationDecision === "allow") refuse("delegation.invocationDecision", "it may not allow anything");
  if (invocationDecision === "deny" || (isTrusted && invocationDecision !== "allow")) return;
  kept["delegation"] = { ...delegation, invocationDecision: "ask" };
}

/** `demian.bash` is `bash`. */
function bare(tool: unknown): string {
  return String(tool).replace(/^demian\./, "");
}
