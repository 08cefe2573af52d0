// May this call happen? One pure function over rules and grants; asking, remembering and telling stand around it (gate.ts).
// The order is a list of steps (§6): one for a single agent, another one for several.
import { findDanger } from "../hooks/builtin/danger.ts";
import { findEnvFile } from "../hooks/builtin/env-names.ts";
import { isOfDemian, isSecretPath, isWriteProtected } from "../workspace/protected.ts";
import { bareName, grantKeyOf, isSameKey } from "./grant-key.ts";
import { type CalledTool, fitsToAllow, fitsToDeny, isCatchAll, specificity } from "./rules.ts";
import type { Decision, PermissionCall, PermissionRule, PermissionTarget, Policy, Verdict } from "./types.ts";

interface Question {
  tool: CalledTool;
  /** Absent: the call says nothing of what it touches. */
  target: PermissionTarget | undefined;
  policy: Policy;
}

type Step = (question: Question) => Verdict | undefined;

const SINGLE_AGENT: readonly Step[] = [hardDeny, globalDeny, agentDeny, granted, mostSpecific, byDefault];
/** An agent's own denial is how it behaves, not a matter of safety: a person may go beyond it, nobody else. */
const MULTI_AGENT: readonly Step[] = [
  hardDeny,
  globalDeny,
  granted,
  asQuestion(agentDeny),
  mostSpecific,
  asQuestion(byDefault),
];
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };
const ASK: Verdict = { decision: "ask", by: "default" };

/** Of several targets the strictest verdict counts. */
export function evaluate(call: PermissionCall, policy: Policy): Verdict {
  const { executor } = policy;
  const tool = { name: bareName(call.tool, executor), executor };
  const steps = policy.mode === "multi-agent" ? MULTI_AGENT : SINGLE_AGENT;
  const targets = call.targets.length === 0 ? [undefined] : call.targets;
  return targets
    .map((target) => firstVerdict(steps, { tool, target, policy }))
    .reduce((worst, verdict) => (strictness(verdict) > strictness(worst) ? verdict : worst));
}

/** A question that only a person can answer is stricter than one that `--yes` answers. */
function strictness({ decision, by }: Verdict): number {
  return STRICTNESS[decision] + (decision === "ask" && by === "agent_deny" ? 0.5 : 0);
}

/** What the agent itself denies is asked; every other denial stays one. */
function asQuestion(step: Step): Step {
  return (question) => {
    const verdict = step(question);
    if (verdict?.decision !== "deny" || (verdict.by !== "rule" && verdict.by !== "agent_default"))
      return verdict;
    return { ...verdict, decision: "ask", by: "agent_deny" };
  };
}

function firstVerdict(steps: readonly Step[], question: Question): Verdict {
  for (const step of steps) {
    const verdict = step(question);
    if (verdict !== undefined) return verdict;
  }
  return ASK;
}

function hardDeny({ target, policy }: Question): Verdict | undefined {
  const fault =
    target?.kind === "path"
      ? pathFault(target, policy)
      : target?.kind === "command" && policy.executor !== undefined
        ? commandFault(target.command)
        : undefined;
  return fault === undefined ? undefined : { decision: "deny", by: "hard_deny", reason: fault };
}

function pathFault(
  target: Extract<PermissionTarget, { kind: "path" }>,
  { hidden = [], ownFiles }: Policy,
): string | undefined {
  const paths = [target.lexical, target.real];
  if (paths.some(isOutside)) return "the path is outside the workspace";
  if (paths.some((path) => isHidden(path, hidden))) return "it is out of bounds for agents";
  // What was not handed over is not to be fetched either: transcripts, and outputs of other agents.
  if (ownFiles !== undefined && paths.some((path) => isOfDemian(path) && !ownFiles.has(path)))
    return ".demian belongs to the main conversation, which sub-agents do not see";
  if (paths.some(isSecretPath)) return "environment files hold secrets";
  const isProtected = target.access === "write" && paths.some(isWriteProtected);
  return isProtected ? "the path is protected from changes" : undefined;
}

/** Of another executor: our hooks do not see its commands, and no sandbox of ours holds them. */
function commandFault(command: string): string | undefined {
  const danger = findDanger(command);
  if (danger !== undefined) return `the command ${danger}`;
  const file = findEnvFile(command);
  return file === undefined ? undefined : `the command names ${file}, and environment files hold secrets`;
}

function isHidden(path: string, hidden: readonly string[]): boolean {
  return hidden.some((place) => path === place || path.startsWith(`${place}/`));
}

function isOutside(path: string): boolean {
  return path.startsWith("/") || path.split("/").includes("..") || path.includes("\0");
}

function globalDeny({ tool, target, policy }: Question): Verdict | undefined {
  const rule = policy.globalRules.find((one) => one.decision === "deny" && fitsToDeny(one, tool, target));
  return rule === undefined ? undefined : toVerdict(rule, "global_deny");
}

/** A denial of everything is the agent's floor: its own rules for one tool stand above it, grants do not. */
function agentDeny({ tool, target, policy }: Question): Verdict | undefined {
  const closest = Math.max(
    ...policy.agentRules
      .filter((one) => one.decision !== "deny" && fits(one, tool, target))
      .map((one) => specificity(one, tool)),
  );
  const rule = policy.agentRules.find(
    (one) =>
      one.decision === "deny" &&
      fitsToDeny(one, tool, target) &&
      !(isCatchAll(one, tool) && closest > specificity(one, tool)),
  );
  return rule === undefined ? undefined : toVerdict(rule, "rule");
}

function granted({ tool, target, policy }: Question): Verdict | undefined {
  const key = target === undefined ? undefined : grantKeyOf(tool.name, target, tool.executor);
  if (key === undefined) return undefined;
  const grant = policy.grants.find(
    (one) => isSameKey(one.key, key) && (one.expiresAtMs === undefined || one.expiresAtMs > policy.nowMs),
  );
  return grant === undefined ? undefined : { decision: "allow", by: "grant" };
}

/** Of equally specific ones the user's own come first, then the stricter. */
function mostSpecific({ tool, target, policy }: Question): Verdict | undefined {
  const candidates = [
    ...policy.globalRules.map((rule) => ({ rule, isGlobal: true })),
    ...policy.agentRules.map((rule) => ({ rule, isGlobal: false })),
  ].filter(({ rule }) => rule.decision !== "deny" && fits(rule, tool, target));
  const best = candidates.sort(
    (a, b) =>
      specificity(b.rule, tool) - specificity(a.rule, tool) ||
      Number(b.isGlobal) - Number(a.isGlobal) ||
      STRICTNESS[b.rule.decision] - STRICTNESS[a.rule.decision],
  )[0];
  return best === undefined ? undefined : toVerdict(best.rule, "rule");
}

function byDefault({ policy }: Question): Verdict | undefined {
  const { agentDefault, executor } = policy;
  const decision = policy.toolDefault ?? policy.rootDefault;
  const other: Verdict | undefined = decision === undefined ? undefined : { decision, by: "default" };
  if (agentDefault === undefined) return other;
  const own: Verdict = { decision: agentDefault, by: "agent_default" };
  if (executor === undefined || other === undefined) return own;
  // An agent that allows by default means our tools, in our sandbox: for those of others the stricter one counts.
  return strictness(other) > strictness(own) ? other : own;
}

/** To ask is to be careful, so that a suspicion is enough, as for a denial. */
function fits(rule: PermissionRule, tool: CalledTool, target: PermissionTarget | undefined): boolean {
  return rule.decision === "allow" ? fitsToAllow(rule, tool, target) : fitsToDeny(rule, tool, target);
}

function toVerdict(rule: PermissionRule, by: Verdict["by"]): Verdict {
  return { decision: rule.decision, by, ...(rule.reason === undefined ? {} : { reason: rule.reason }) };
}
