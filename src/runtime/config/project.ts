// Filters a project's configuration. It comes with a repository someone else wrote, so it may only tighten the user's
// settings: everything else is ignored and reported. The table below lists everything that is accepted.
import { isObject, type JsonObject } from "../../base/json.ts";
import { UNKNOWN_BUDGET_TOKENS } from "../context/budget.ts";
import { resolveLimits } from "../sandbox/limits.ts";
import { limitWarnings } from "./fewer.ts";
import { restrictAgents } from "./project-agents.ts";
import type { DemianConfig } from "./schema.ts";
import { explainHowToTrust } from "./trust.ts";

export interface ProjectOrder {
  /** With current key names (layer.ts), not validated. */
  layer: JsonObject;
  /** The user's settings. */
  base: DemianConfig;
  /** Later layers, not validated. */
  stronger: readonly JsonObject[];
  path: string;
  /** Where the user can put refused settings. */
  userPath: string;
  isTrusted: boolean;
  /** The user chose the default agent: it stays. */
  hasDefaultAgent: boolean;
  /** Validates the layer over the base, without what was removed. Throws `config_invalid`. */
  check(layer: JsonObject): void;
}

export interface RestrictedProject {
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
  // Fewer requests.
  "context.main.compression": towards("model", "deterministic"),
  "sandbox.mode": towards("off", "workspace-write", "read-only"),
  "sandbox.network": towards("inherit", "deny"),
  "sandbox.allowEnvOnly": towards(true, false),
  "sandbox.writableGit": towards(true, false),
  "sandbox.maxProcesses": atMost,
  // Without a value it depends on the machine.
  "sandbox.maxMemoryMb": (value, base) =>
    Number(value) * 1024 ** 2 <= resolveLimits({ maxMemoryMb: base as number | undefined }).memoryBytes,
  "sandbox.maxTemporaryMb": atMost,
  "persistentGrants.enabled": towards(true, false),
  "persistentGrants.ttlMs": atMost,
  "transcript.enabled": towards(true, false),
  "multimodal.maxImageBytes": atMost,
  "multimodal.detail": towards("high", "auto", "low"),
  "delegation.maxDepth": atMost,
  "delegation.defaultInvocationDecision": towards("allow", "ask", "deny"),
  "delegation.subInvocationMaxTurns": atMost,
};

/** Why the key is always ignored, also in a trusted project. */
const NEVER: Readonly<Record<string, string>> = {
  providers: "it may not choose where your data and keys go",
  defaultProvider: "it may not choose where your data and keys go",
  trust: "it cannot trust itself",
};

export function restrictProject(order: ProjectOrder): RestrictedProject {
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
    refuse("hooks", "hooks are programs", explainHowToTrust(order.path));
    delete layer["hooks"];
  }
  const servers = takeServers(layer, order, refuse);
  order.check(layer);
  const { permissions, hooks, agents, defaultAgent, mcpServers: _, ...settings } = layer;
  const kept = keepTight(settings, order.base, "", (key, base) =>
    refuse(key, `a project may only tighten it, and yours is ${JSON.stringify(base)}`),
  );
  if (Array.isArray(permissions)) kept["permissions"] = permissions.filter(keepsRule(order, refuse));
  if (hooks !== undefined) kept["hooks"] = hooks;
  if (servers !== undefined) kept["mcpServers"] = servers;
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
  return { layer: kept, warnings: [...warnings, ...limitWarnings(refused, order.path)] };
}

/** MCP servers are programs, or places to send data to: only trust allows them, and none replaces the user's. */
function takeServers(
  layer: JsonObject,
  order: ProjectOrder,
  refuse: (key: string, why: string, instead?: string) => void,
): JsonObject | undefined {
  const servers = layer["mcpServers"];
  if (servers === undefined) return undefined;
  if (!order.isTrusted) {
    refuse("mcpServers", "they are programs", explainHowToTrust(order.path));
    delete layer["mcpServers"];
    return undefined;
  }
  if (!isObject(servers)) return undefined;
  const [taken, kept] = [true, false].map((isTaken) =>
    Object.entries(servers).filter(([name]) => Object.hasOwn(order.base.mcpServers, name) === isTaken),
  );
  for (const [name] of taken ?? [])
    refuse(`mcpServers.${name}`, "you have a server with that name", "rename one of them");
  return Object.fromEntries(kept ?? []);
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
    else if (value === below || findRule(key)?.(value, below)) kept[name] = value;
    else refuse(key, below);
  }
  return kept;
}

function findRule(key: string): Tightens | undefined {
  if (key === "context.main.maxContextTokens")
    return (value, base) => atMost(value, base ?? UNKNOWN_BUDGET_TOKENS);
  // Budgets: all are numbers, except one with a single valid value, which is always equal.
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
      refuse(`permissions/${index}`, `your agent "${closed}" denies by default, and asking would relax that`);
    return decision === "deny" || (decision === "ask" && closed === undefined);
  };
}

function isClosed(agent: unknown): boolean {
  if (!isObject(agent)) return false;
  const { authority, defaultDecision } = agent;
  return [defaultDecision, isObject(authority) ? authority["defaultDecision"] : undefined].includes("deny");
}
