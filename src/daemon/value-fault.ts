// Explains what is wrong with a config value.
import type { z } from "zod";

const LONGEST = 60;

/** `expected number, not "soon"`. Long values are cut; `isSecret` values are not repeated. */
export function findValueFault(
  issue: z.core.$ZodIssue | undefined,
  value: unknown,
  isSecret = false,
): string {
  if (issue === undefined) return "not valid";
  const message = issue.message
    .replace(/^(Invalid (input|option)|Too (small|big)): /, "")
    .replace(/, received .*$/, "")
    .replace("expected number to be >=0", "must be 0 or more")
    .replace("expected int", "expected a whole number")
    .replace("expected array", 'expected a list, ["…"]')
    .replace("expected record", 'expected a table, { NAME = "…" }')
    .replace("expected string to have >=1 characters", "expected a non-empty string");
  if (isSecret) return message;
  const given = JSON.stringify(at(value, issue.path)) ?? "nothing";
  return `${message}, not ${given.length > LONGEST ? `${given.slice(0, LONGEST)}…` : given}`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}
