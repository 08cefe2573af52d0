// The policy decision: a pure function. Deny beats ask beats allow, and no matching rule means ask; so a further deny rule
// can never allow more.
import type { PolicyDecision, PolicyVerdict, RuleVerdict } from "../../protocol/policy.ts";
import { findMismatch } from "./match.ts";
import type { CountedRule, RequestFacts, SessionFacts } from "./types.ts";

export interface Decided {
  decision: PolicyDecision;
  /** The first rule with this decision. */
  rule_id?: string;
}

const STRICTEST_FIRST: readonly PolicyDecision[] = ["deny", "ask", "allow"];

export function decide(
  request: RequestFacts,
  session: SessionFacts,
  rules: readonly CountedRule[],
  nowMs: number,
): Decided {
  for (const decision of STRICTEST_FIRST) {
    const found = rules.find(
      (one) => one.rule.then === decision && findMismatch(one, request, session, nowMs) === undefined,
    );
    if (found !== undefined) return { decision, rule_id: found.rule.id };
  }
  return { decision: "ask" };
}

/** The same, with what every rule says. */
export function explain(
  request: RequestFacts,
  session: SessionFacts,
  rules: readonly CountedRule[],
  nowMs: number,
): PolicyVerdict {
  const verdicts = rules.map((one): RuleVerdict => {
    const reason = findMismatch(one, request, session, nowMs);
    const { id: rule_id, then: decision } = one.rule;
    return { rule_id, decision, matches: reason === undefined, ...(reason === undefined ? {} : { reason }) };
  });
  const { fault } = request;
  return {
    ...decide(request, session, rules, nowMs),
    ...(fault === undefined ? {} : { reason: fault }),
    rules: verdicts,
  };
}
