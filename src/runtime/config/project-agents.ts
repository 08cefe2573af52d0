// Agents that come with a project: their prompts are data and are taken, with a warning; what they may do is not theirs to
// say. Trust lets them read without being asked, and choose among the user's providers.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { DemianConfig } from "./schema.ts";

const TOOLS = ["read_file", "write_file", "edit_file", "bash", "grep", "glob"];
const READING = ["read_file", "grep", "glob"];

export interface AgentsOrder {
  base: DemianConfig;
  path: string;
  isTrusted: boolean;
}

type Refuse = (key: string, why: string, instead?: string) => void;

/** `agents` has the right shape. */
export function restrictAgents(
  agents: JsonObject,
  order: AgentsOrder,
  refuse: Refuse,
  warnings: string[],
): JsonObject {
  const kept: JsonObject = {};
  for (const [name, agent] of Object.entries(agents)) {
    const key = `agents.${name}`;
    if (Object.hasOwn(order.base.agents, name))
      refuse(key, "you have an agent of that name", "rename one of them");
    else if (isObject(agent)) kept[name] = restrictAgent(agent, key, order, refuse);
  }
  const names = Object.keys(kept);
  if (names.length > 0 && !order.isTrusted)
    warnings.push(`${order.path} brings agents whose prompts you did not write: ${names.join(", ")}`);
  return kept;
}

function restrictAgent(agent: JsonObject, key: string, order: AgentsOrder, refuse: Refuse): JsonObject {
  const kept: JsonObject = { ...agent };
  const trust = "read it and run demian once with --trust-project";
  const mayAllow = (rule: unknown) =>
    order.isTrusted && isObject(rule) && READING.includes(bare(rule["tool"])) && rule["match"] === undefined;
  const keepRules = (rules: unknown, at: string) =>
    (Array.isArray(rules) ? rules : []).filter((rule: unknown, index) => {
      if (!isObject(rule) || rule["decision"] !== "allow" || mayAllow(rule)) return true;
      const isReading = READING.includes(bare(rule["tool"]));
      refuse(`${at}/${index}`, "it may not allow anything", isReading ? trust : undefined);
      return false;
    });
  if ("permissions" in kept) kept["permissions"] = keepRules(kept["permissions"], `${key}.permissions`);
  for (const [holder, at] of [
    [kept, key],
    [kept["authority"], `${key}.authority`],
  ] as const) {
    if (!isObject(holder) || holder["defaultDecision"] !== "allow") continue;
    refuse(`${at}.defaultDecision`, "it may not allow anything");
    if (holder === kept) delete kept["defaultDecision"];
    else kept["authority"] = { ...holder, defaultDecision: undefined };
  }
  if (isObject(kept["authority"]) && "permissions" in kept["authority"]) {
    const permissions = keepRules(kept["authority"]["permissions"], `${key}.authority.permissions`);
    kept["authority"] = { ...kept["authority"], permissions };
  }
  if (isObject(kept["delegation"]) && kept["delegation"]["invocationDecision"] === "allow") {
    refuse(`${key}.delegation.invocationDecision`, "it may not allow anything");
    kept["delegation"] = { ...kept["delegation"], invocationDecision: undefined };
  }
  const profile = isObject(kept["provider"]) ? kept["provider"]["profile"] : undefined;
  if (profile !== undefined && profile !== order.base.defaultProvider && !order.isTrusted) {
    refuse(`${key}.provider`, "it may not choose where your data and keys go", trust);
    delete kept["provider"];
  }
  if (isObject(kept["tools"]) && Array.isArray(kept["tools"]["visible"])) {
    const visible = kept["tools"]["visible"].filter((tool: unknown) => {
      if (TOOLS.includes(bare(tool))) return true;
      refuse(`${key}.tools.visible`, `it may only see ${TOOLS.join(", ")}, not ${String(tool)}`);
      return false;
    });
    kept["tools"] = { ...kept["tools"], visible };
  }
  return kept;
}

/** `demian.bash` is `bash`. */
function bare(tool: unknown): string {
  return String(tool).replace(/^demian\./, "");
}
