// A suggested rule as text: the rule, and exactly which of the latest requests it would have decided.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { PolicyPreview } from "../../protocol/policy.ts";
import type { RequestRow } from "../../protocol/requests.ts";

/** Untrusted titles are made visible, each on one line. */
export function formatPreview({ text, compared, matches }: PolicyPreview): string[] {
  const count = matches.length === 0 ? "none" : String(matches.length);
  return [
    sanitizeLine(text),
    `Of the last ${compared} requests, it would have decided ${count}${matches.length === 0 ? "." : ":"}`,
    ...matches.map(
      ({ request_id, title, outcome }) => `  ${request_id}  ${sanitizeLine(title)}  (${outcome})`,
    ),
  ];
}

/** The request that was answered last, if a rule could be made of it: a person decided, not a rule. */
export function findLastAnswered(rows: readonly RequestRow[]): RequestRow | undefined {
  const answered = rows.filter(
    ({ answer, rule_id }) => answer !== undefined && "decision" in answer && rule_id === undefined,
  );
  return answered.toSorted((a, b) => (b.resolved_at_ms ?? 0) - (a.resolved_at_ms ?? 0))[0];
}
