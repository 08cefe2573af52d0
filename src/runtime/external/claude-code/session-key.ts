// Which session of Claude Code a message belongs to, and why it is another one than before.
import { createHash } from "node:crypto";
import type { PermissionRule } from "../../permissions/types.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { ExternalTurn } from "../types.ts";

export interface SessionKey {
  rootSessionId: string;
  /** Its name; of a sub-agent with its path. */
  agent: string;
  /** The provider's key in the configuration. */
  profile: string;
  cwd: string;
  model: string;
  /** A hash of the agent's own words. */
  instructions: string;
  /** A hash of what decides about Claude Code's tools. */
  permissions: string;
}

export type SplitReason = "provider" | "profile" | "agent" | "cwd" | "model" | "instructions" | "permissions";

type KeyOrder = Pick<
  ExternalTurn,
  "rootSessionId" | "agent" | "agentPath" | "profile" | "cwd" | "model" | "globalRules"
>;
type KeyConfig = Pick<ClaudeCodeConfig, "permissionMode" | "defaultDecision" | "allowSubagents">;

const CHANGED: readonly (readonly [part: Exclude<keyof SessionKey, "rootSessionId">, words: string])[] = [
  ["profile", "another provider profile"],
  ["agent", "another agent"],
  ["cwd", "another working directory"],
  ["model", "another model"],
  ["instructions", "other instructions of the agent"],
  ["permissions", "other permissions"],
];

export function sessionKey(turn: KeyOrder, config: KeyConfig): SessionKey {
  const { rootSessionId, agent, agentPath, profile, cwd, model } = turn;
  // Not the whole system prompt: what hooks add (the date) may differ every day, and is told with every message.
  const instructions = hash([agent.prompt.system, agent.prompt.append ?? ""]);
  return {
    rootSessionId,
    // Of two callers each has its own: one must not hear what the other one asked.
    agent: agentPath === undefined ? agent.name : ["", ...agentPath].join(" > "),
    profile,
    cwd,
    model,
    instructions,
    permissions: policyHash(turn, config),
  };
}

export function keyText(key: SessionKey): string {
  const { rootSessionId, agent, profile, cwd, model, instructions, permissions } = key;
  return hash([rootSessionId, agent, profile, cwd, model, instructions, permissions]);
}

/** What is another one now; empty: nothing. */
export function changedParts(before: SessionKey, now: SessionKey): SplitReason[] {
  return CHANGED.filter(([part]) => before[part] !== now[part]).map(([part]) => part);
}

/** For people: "another model and other permissions". */
export function wordsFor(reasons: readonly SplitReason[]): string {
  const words = CHANGED.filter(([part]) => reasons.includes(part)).map(([, text]) => text);
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** Rules about our own tools say nothing about Claude Code's. */
function concernsClaudeCode({ tool }: PermissionRule): boolean {
  return tool === "*" || tool.startsWith("*.") || tool.startsWith("claudecode.");
}

function policyHash({ agent, globalRules }: KeyOrder, config: KeyConfig): string {
  const rules = (list: readonly PermissionRule[]) =>
    list
      .filter(concernsClaudeCode)
      .map(({ tool, match, decision }) => [
        tool,
        match?.pathGlob ?? "",
        match?.commandPrefix ?? "",
        decision,
      ]);
  const { permissionMode, defaultDecision, allowSubagents } = config;
  return hash([
    ...[permissionMode, defaultDecision, allowSubagents, agent.defaultDecision ?? ""],
    ...[rules(globalRules), rules(agent.permissions)],
  ]);
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
