// Identifies the Claude Code session of a message, and explains why it differs from the last one.
import { createHash } from "node:crypto";
import type { PermissionRule } from "../../permissions/types.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { ExternalTurn } from "../types.ts";

export interface SessionKey {
  rootSessionId: string;
  /** Its name; for a sub-agent, its path. */
  agent: string;
  /** The provider's key in the configuration. */
  profile: string;
  cwd: string;
  model: string;
  /** A hash of the agent's own prompt. */
  instructions: string;
  /** A hash of the rules for Claude Code's tools. */
  permissions: string;
}

export type SplitReason = "provider" | "profile" | "agent" | "cwd" | "model" | "instructions" | "permissions";

type KeyOrder = Pick<
  ExternalTurn,
  "rootSessionId" | "agent" | "agentPath" | "profile" | "cwd" | "model" | "globalRules"
>;
type KeyConfig = Pick<ClaudeCodeConfig, "permissionMode" | "defaultDecision" | "allowSubagents">;

const CHANGED: readonly (readonly [part: Exclude<keyof SessionKey, "rootSessionId">, text: string])[] = [
  ["profile", "different provider profile"],
  ["agent", "different agent"],
  ["cwd", "different working directory"],
  ["model", "different model"],
  ["instructions", "changed agent instructions"],
  ["permissions", "changed permissions"],
];

export function toSessionKey(turn: KeyOrder, config: KeyConfig): SessionKey {
  const { rootSessionId, agent, agentPath, profile, cwd, model } = turn;
  // Not the whole system prompt: hooks may add something that changes every day (the date), and it is sent each time.
  const instructions = hash([agent.prompt.system, agent.prompt.append ?? ""]);
  return {
    rootSessionId,
    // Each caller has its own session: one must not see what another asked.
    agent: agentPath === undefined ? agent.name : ["", ...agentPath].join(" > "),
    profile,
    cwd,
    model,
    instructions,
    permissions: hashPolicy(turn, config),
  };
}

export function hashKey(key: SessionKey): string {
  const { rootSessionId, agent, profile, cwd, model, instructions, permissions } = key;
  return hash([rootSessionId, agent, profile, cwd, model, instructions, permissions]);
}

/** The parts that changed. */
export function findChanges(before: SessionKey, now: SessionKey): SplitReason[] {
  return CHANGED.filter(([part]) => before[part] !== now[part]).map(([part]) => part);
}

/** "different model and changed permissions" */
export function describeChanges(reasons: readonly SplitReason[]): string {
  const texts = CHANGED.filter(([part]) => reasons.includes(part)).map(([, text]) => text);
  const last = texts.at(-1) ?? "";
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(", ")} and ${last}`;
}

/** Rules about our own tools do not apply to Claude Code's. */
function concernsClaudeCode({ tool }: PermissionRule): boolean {
  return tool === "*" || tool.startsWith("*.") || tool.startsWith("claudecode.");
}

function hashPolicy({ agent, globalRules }: KeyOrder, config: KeyConfig): string {
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
