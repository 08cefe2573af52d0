// Decides whether a call is allowed: a pure function over rules and grants. gate.ts asks the user and stores grants.
// The precedence is a list of steps, one for single-agent and one for multi-agent mode.
import { defined } from "../../base/values.ts";
import { findDanger } from "../hooks/builtin/danger.ts";
import { findEnvFile } from "../hooks/builtin/env-names.ts";
import { isDemianPath, isSecretPath, isWriteProtected } from "../workspace/protected.ts";
import { isSameKey, stripExecutor, toGrantKey } from "./grant-key.ts";
import { type CalledTool, isCatchAll, matchesToAllow, matchesToDeny, rateSpecificity } from "./rules.ts";
import type { Decision, PermissionCall, PermissionRule, PermissionTarget, Policy, Verdict } from "./types.ts";

interface Question {
  tool: CalledTool;
  /** Undefined if the call declares no targets. */
  target: PermissionTarget | undefined;
  policy: Policy;
}

type Step = (question: Question) => Verdict | undefined;

const SINGLE_AGENT: readonly Step[] = [
  applyHardDeny,
  applyGlobalDeny,
  applyAgentDeny,
  applyGrant,
  applyMostSpecific,
  applyDefault,
];
/** An agent's own denial describes its role and is not a safety rule: only the user may override it. */
const MULTI_AGENT: readonly Step[] = [
  applyHardDeny,
  applyGlobalDeny,
  applyGrant,
  denyToAsk(applyAgentDeny),
  applyMostSpecific,
  denyToAsk(applyDefault),
];
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };
const PATCHED = ["edit_file", "write_file"];
const ASK: Verdict = { decision: "ask", by: "default" };

/** The strictest verdict over all targets. */
export function evaluate(call: PermissionCall, policy: Policy): Verdict {
  const { executor } = policy;
  const tool = { name: stripExecutor(call.tool, executor), executor };
  const steps = policy.mode === "multi-agent" ? MULTI_AGENT : SINGLE_AGENT;
  const targets = call.targets.length === 0 ? [undefined] : call.targets;
  return targets
    .map((target) => findVerdict(steps, { tool, target, policy }))
    .reduce((worst, verdict) => (rateStrictness(verdict) > rateStrictness(worst) ? verdict : worst));
}

/** A question that only the user can answer is stricter than one that `--yes` answers. */
function rateStrictness({ decision, by }: Verdict): number {
  return STRICTNESS[decision] + (decision === "ask" && by === "agent_deny" ? 0.5 : 0);
}

/** Turns the agent's own denials into questions. */
function denyToAsk(step: Step): Step {
  return (question) => {
    const verdict = step(question);
    if (verdict?.decision !== "deny" || (verdict.by !== "rule" && verdict.by !== "agent_default"))
      return verdict;
    return { ...verdict, decision: "ask", by: "agent_deny" };
  };
}

function findVerdict(steps: readonly Step[], question: Question): Verdict {
  for (const step of steps) {
    const verdict = step(question);
    if (verdict !== undefined) return verdict;
  }
  return ASK;
}

function applyHardDeny({ target, policy }: Question): Verdict | undefined {
  const fault =
    target?.kind === "path"
      ? findPathFault(target, policy)
      : target?.kind === "command" && policy.executor !== undefined
        ? findCommandFault(target.command)
        : undefined;
  return fault === undefined ? undefined : { decision: "deny", by: "hard_deny", reason: fault };
}

function findPathFault(
  target: Extract<PermissionTarget, { kind: "path" }>,
  { hidden = [], ownFiles }: Policy,
): string | undefined {
  const paths = [target.lexical, target.real];
  if (paths.some(isOutside)) return "the path is outside the workspace";
  if (paths.some((path) => isHidden(path, hidden))) return "agents cannot access this path";
  // A sub-agent gets only its handoff, not transcripts or outputs of other agents.
  if (ownFiles !== undefined && paths.some((path) => isDemianPath(path) && !ownFiles.has(path)))
    return ".demian belongs to the main conversation; sub-agents cannot access it";
  if (paths.some(isSecretPath)) return "environment files may contain secrets";
  const isProtected = target.access === "write" && paths.some(isWriteProtected);
  return isProtected ? "the path is write-protected" : undefined;
}

/** For other executors, whose commands bypass our hooks and sandbox. */
function findCommandFault(command: string): string | undefined {
  const danger = findDanger(command);
  if (danger !== undefined) return `the command ${danger}`;
  const file = findEnvFile(command);
  return file === undefined ? undefined : `the command names ${file}; environment files may contain secrets`;
}

function isHidden(path: string, hidden: readonly string[]): boolean {
  return hidden.some((dir) => path === dir || path.startsWith(`${dir}/`));
}

function isOutside(path: string): boolean {
  return path.startsWith("/") || path.split("/").includes("..") || path.includes("\0");
}

function applyGlobalDeny({ tool, target, policy }: Question): Verdict | undefined {
  const rule = policy.globalRules.find((one) => one.decision === "deny" && isDenied(one, tool, target));
  return rule === undefined ? undefined : toVerdict(rule, "global_deny");
}

/** A patch does what the other file tools do, so their denials hold for it too. */
function isDenied(rule: PermissionRule, tool: CalledTool, target: PermissionTarget | undefined): boolean {
  const names = tool.executor === undefined && tool.name === "apply_patch" ? PATCHED : [];
  return [tool, ...names.map((name) => ({ ...tool, name }))].some((one) => matchesToDeny(rule, one, target));
}

/** The agent's rules for a single tool override its denial of everything; grants do not. */
function applyAgentDeny({ tool, target, policy }: Question): Verdict | undefined {
  const closest = Math.max(
    ...policy.agentRules
      .filter((one) => one.decision !== "deny" && matchesRule(one, tool, target))
      .map((one) => rateSpecificity(one, tool)),
  );
  const rule = policy.agentRules.find(
    (one) =>
      one.decision === "deny" &&
      isDenied(one, tool, target) &&
      !(isCatchAll(one, tool) && closest > rateSpecificity(one, tool)),
  );
  return rule === undefined ? undefined : toVerdict(rule, "rule");
}

function applyGrant({ tool, target, policy }: Question): Verdict | undefined {
  const key = target === undefined ? undefined : toGrantKey(tool.name, target, tool.executor);
  if (key === undefined) return undefined;
  const grant = policy.grants.find(
    (one) => isSameKey(one.key, key) && (one.expiresAtMs === undefined || one.expiresAtMs > policy.nowMs),
  );
  return grant === undefined ? undefined : { decision: "allow", by: "grant" };
}

/** Among equally specific rules, the user's come first, then the stricter. */
function applyMostSpecific({ tool, target, policy }: Question): Verdict | undefined {
  const candidates = [
    ...policy.globalRules.map((rule) => ({ rule, isGlobal: true })),
    ...policy.agentRules.map((rule) => ({ rule, isGlobal: false })),
  ].filter(({ rule }) => rule.decision !== "deny" && matchesRule(rule, tool, target));
  const best = candidates.sort(
    (a, b) =>
      rateSpecificity(b.rule, tool) - rateSpecificity(a.rule, tool) ||
      Number(b.isGlobal) - Number(a.isGlobal) ||
      STRICTNESS[b.rule.decision] - STRICTNESS[a.rule.decision],
  )[0];
  return best === undefined ? undefined : toVerdict(best.rule, "rule");
}

function applyDefault({ policy }: Question): Verdict | undefined {
  const { agentDefault, executor } = policy;
  const decision = policy.toolDefault ?? policy.rootDefault;
  const other: Verdict | undefined = decision === undefined ? undefined : { decision, by: "default" };
  if (agentDefault === undefined) return other;
  const own: Verdict = { decision: agentDefault, by: "agent_default" };
  if (executor === undefined || other === undefined) return own;
  // An agent's default is meant for our tools in our sandbox; for other executors the stricter default counts.
  return rateStrictness(other) > rateStrictness(own) ? other : own;
}

/** Asking is cautious, so suspicion is enough, as for a denial. */
function matchesRule(rule: PermissionRule, tool: CalledTool, target: PermissionTarget | undefined): boolean {
  return rule.decision === "allow" ? matchesToAllow(rule, tool, target) : matchesToDeny(rule, tool, target);
}

function toVerdict(rule: PermissionRule, by: Verdict["by"]): Verdict {
  return { decision: rule.decision, by, ...defined({ reason: rule.reason }) };
}
