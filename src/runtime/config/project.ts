// What a project's configuration may say. It comes with a repository that somebody else wrote, so it may only tighten what
// the user has: everything else is left out, and told. The table below is all that is let through.
import { isObject, type JsonObject } from "../../base/json.ts";
import { UNKNOWN_BUDGET_TOKENS } from "../context/budget.ts";
import { fewer } from "./fewer.ts";
import { restrictAgents } from "./project-agents.ts";
import type { DemianConfig } from "./schema.ts";
import { howToTrust } from "./trust.ts";

export interface ProjectOrder {
  /** Today's names (layer.ts), not checked yet. */
  layer: JsonObject;
  /** What the user has. */
  base: DemianConfig;
  /** What is laid over the project's afterwards, not checked yet. */
  stronger: readonly JsonObject[];
  path: string;
  /** Where a person puts what is refused here. */
  userPath: string;
  isTrusted: boolean;
  /** The user chose the agent of new sessions: it stands. */
  hasDefaultAgent: boolean;
  /** Checks the layer over the base, without what was left out before. Throws `config_invalid`. */
  check(layer: JsonObject): void;
}

export interface Restricted {
  layer: JsonObject;
  warnings: string[];
}

/** True: `value` is at least as strict as `base`. */
type Tightens = (value: unknown, base: unknown) => boolean;

const atMost: Tightens = (value, base) => base === undefined || Number(value) <= Number(base);
const either: Tightens = () => true;
const towards =
  (...order: readonly unknown[]): Tightens =>
  (value, base) =>
    order.indexOf(value) >= order.indexOf(base);

const TIGHTENS: Readonly<Record<string, Tightens>> = {
  agentMode: towards("multi-agent", "single-agent"),
  maxTurns: atMost,
  "streaming.enabled": either,
  "sandbox.mode": towards("off", "workspace-write", "read-only"),
  "sandbox.network": towards("inherit", "deny"),
  "sandbox.allowEnvOnly": towards(true, false),
  "sandbox.writableGit": towards(true, false),
  "persistentGrants.enabled": towards(true, false),
  "persistentGrants.ttlMs": atMost,
  "transcript.enabled": towards(true, false),
  "multimodal.maxImageBytes": atMost,
  "multimodal.detail": towards("high", "auto", "low"),
  "delegation.maxDepth": atMost,
  "delegation.defaultInvocationDecision": towards("allow", "ask", "deny"),
  "delegation.subInvocationMaxTurns": atMost,
};

/** Why the whole key is left out, whatever it says. Trust changes that for hooks alone. */
const NEVER: Readonly<Record<string, string>> = {
  providers: "it may not choose where your data and keys go",
  defaultProvider: "it may not choose where your data and keys go",
  trust: "it cannot trust itself",
};

export function restrictProject(order: ProjectOrder): Restricted {
  const refused: string[] = [];
  const warnings: string[] = [];
  const refuse = (key: string, why: string, instead = `put it in ${order.userPath}`) =>
    refused.push(`${order.path}: "${key}" is ignored: ${why}. If you want it, ${instead}`);
  const layer: JsonObject = { ...order.layer };
  for (const [key, why] of Object.entries(NEVER)) {
    if (!(key in layer)) continue;
    refuse(key, why);
    delete layer[key];
  }
  if ("hooks" in layer && !order.isTrusted) {
    refuse("hooks", "they are programs", howToTrust(order.path));
    delete layer["hooks"];
  }
  order.check(layer);
  const { permissions, hooks, agents, defaultAgent, ...settings } = layer;
  const kept = keepTight(settings, order.base, "", (key, base) =>
    refuse(key, `a project may only tighten it, and yours is ${JSON.stringify(base)}`),
  );
  if (Array.isArray(permissions)) kept["permissions"] = permissions.filter(keepsRule(order, refuse));
  if (hooks !== undefined) kept["hooks"] = hooks;
  if (isObject(agents)) kept["agents"] = restrictAgents(agents, order, refuse, warnings);
  if (typeof defaultAgent === "string") {
    if (order.hasDefaultAgent) refuse("defaultAgent", `yours is "${order.base.defaultAgent}"`);
    // Whether it can be is known when all agents are (agents/from-config.ts).
    else kept["defaultAgent"] = defaultAgent;
  }
  if (
    isObject(kept["transcript"]) &&
    kept["transcript"]["enabled"] === false &&
    order.base.transcript.enabled
  )
    warnings.push(`${order.path} turns transcripts off in this project`);
  return { layer: kept, warnings: [...warnings, ...fewer(refused, order.path)] };
}

function keepTight(
  layer: JsonObject,
  base: unknown,
  prefix: string,
  refuse: (key: string, base: unknown) => void,
): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(layer)) {
    const key = prefix + name;
    const below = isObject(base) ? base[name] : undefined;
    if (isObject(value)) kept[name] = keepTight(value, below, `${key}.`, refuse);
    else if (value === below || ruleOf(key)?.(value, below)) kept[name] = value;
    else refuse(key, below);
  }
  return kept;
}

function ruleOf(key: string): Tightens | undefined {
  if (key === "context.main.maxContextTokens")
    return (value, base) => atMost(value, base ?? UNKNOWN_BUDGET_TOKENS);
  // Budgets: all of them are numbers but the two that have one value each, which is then equal.
  if (/^context\.(main|subAgent)\.(?!compression$|memoryScope$)/.test(key)) return atMost;
  return Object.hasOwn(TIGHTENS, key) ? TIGHTENS[key] : undefined;
}

function keepsRule(order: ProjectOrder, refuse: (key: string, why: string) => void) {
  // With a default of "deny", a rule that asks would open what is closed.
  const closed = [order.base, ...order.stronger]
    .flatMap(({ agents }) => Object.entries(isObject(agents) ? agents : {}))
    .find(([, agent]) => isClosed(agent))?.[0];
  return (rule: unknown, index: number): boolean => {
    const decision = isObject(rule) ? rule["decision"] : undefined;
    if (decision === "allow") refuse(`permissions/${index}`, "it may not allow anything");
    if (decision === "ask" && closed !== undefined)
      refuse(`permissions/${index}`, `your agent "${closed}" denies by default, and asking would open it`);
    return decision === "deny" || (decision === "ask" && closed === undefined);
  };
}

function isClosed(agent: unknown): boolean {
  if (!isObject(agent)) return false;
  const { authority, defaultDecision } = agent;
  return [defaultDecision, isObject(authority) ? authority["defaultDecision"] : undefined].includes("deny");
}
