// May this call happen? One pure function over rules and grants; asking, remembering and telling stand around it (gate.ts).
// The order is that of one agent (§6); with several agents it is another list of the same steps.
import { isSecretPath, isWriteProtected } from "../workspace/protected.ts";
import { grantKeyOf, isSameKey } from "./grant-key.ts";
import { fitsToAllow, fitsToDeny, isCatchAll, specificity } from "./rules.ts";
import type { Decision, PermissionCall, PermissionRule, PermissionTarget, Policy, Verdict } from "./types.ts";

interface Question {
  tool: string;
  /** Absent: the call says nothing of what it touches. */
  target: PermissionTarget | undefined;
  policy: Policy;
}

type Step = (question: Question) => Verdict | undefined;

const SINGLE_AGENT: readonly Step[] = [hardDeny, globalDeny, agentDeny, granted, mostSpecific, byDefault];
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };
const ASK: Verdict = { decision: "ask", by: "default" };

/** Of several targets the strictest verdict counts. */
export function evaluate(call: PermissionCall, policy: Policy): Verdict {
  const tool = call.tool.replace(/^demian\./, "");
  const targets = call.targets.length === 0 ? [undefined] : call.targets;
  return targets
    .map((target) => firstVerdict(SINGLE_AGENT, { tool, target, policy }))
    .reduce((worst, verdict) =>
      STRICTNESS[verdict.decision] > STRICTNESS[worst.decision] ? verdict : worst,
    );
}

function firstVerdict(steps: readonly Step[], question: Question): Verdict {
  for (const step of steps) {
    const verdict = step(question);
    if (verdict !== undefined) return verdict;
  }
  return ASK;
}

function hardDeny({ target, policy }: Question): Verdict | undefined {
  if (target?.kind !== "path") return undefined;
  const paths = [target.lexical, target.real];
  const fault = paths.some(isOutside)
    ? "the path is outside the workspace"
    : paths.some((path) => isHidden(path, policy.hidden ?? []))
      ? "it is out of bounds for agents"
      : paths.some(isSecretPath)
        ? "environment files hold secrets"
        : target.access === "write" && paths.some(isWriteProtected)
          ? "the path is protected from changes"
          : undefined;
  return fault === undefined ? undefined : { decision: "deny", by: "hard_deny", reason: fault };
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
  const named = policy.agentRules.some(
    (one) => one.decision !== "deny" && !isCatchAll(one) && fits(one, tool, target),
  );
  const rule = policy.agentRules.find(
    (one) => one.decision === "deny" && fitsToDeny(one, tool, target) && !(named && isCatchAll(one)),
  );
  return rule === undefined ? undefined : toVerdict(rule, "rule");
}

function granted({ tool, target, policy }: Question): Verdict | undefined {
  const key = target === undefined ? undefined : grantKeyOf(tool, target);
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
      specificity(b.rule) - specificity(a.rule) ||
      Number(b.isGlobal) - Number(a.isGlobal) ||
      STRICTNESS[b.rule.decision] - STRICTNESS[a.rule.decision],
  )[0];
  return best === undefined ? undefined : toVerdict(best.rule, "rule");
}

function byDefault({ policy }: Question): Verdict | undefined {
  if (policy.agentDefault !== undefined) return { decision: policy.agentDefault, by: "agent_default" };
  const decision = policy.toolDefault ?? policy.rootDefault;
  return decision === undefined ? undefined : { decision, by: "default" };
}

/** To ask is to be careful, so that a suspicion is enough, as for a denial. */
function fits(rule: PermissionRule, tool: string, target: PermissionTarget | undefined): boolean {
  return rule.decision === "allow" ? fitsToAllow(rule, tool, target) : fitsToDeny(rule, tool, target);
}

function toVerdict(rule: PermissionRule, by: Verdict["by"]): Verdict {
  return { decision: rule.decision, by, ...(rule.reason === undefined ? {} : { reason: rule.reason }) };
}
