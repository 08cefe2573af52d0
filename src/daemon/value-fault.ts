// What is wrong with a value of the configuration, for the person who wrote it.
import type { z } from "zod";

const LONGEST = 60;

/** `expected number, not "soon"`. A long value is cut; `isSecret`: it may hold a key and is not repeated. */
export function valueFault(issue: z.core.$ZodIssue | undefined, value: unknown, isSecret = false): string {
  if (issue === undefined) return "not valid";
  const told = issue.message
    .replace(/^(Invalid (input|option)|Too (small|big)): /, "")
    .replace(/, received .*$/, "")
    .replace("expected number to be >=0", "must be 0 or more")
    .replace("expected int", "expected a whole number")
    .replace("expected array", 'expected a list, ["…"]')
    .replace("expected record", 'expected a table, { NAME = "…" }')
    .replace("expected string to have >=1 characters", "expected a text that is not empty");
  if (isSecret) return told;
  const given = JSON.stringify(at(value, issue.path)) ?? "nothing";
  return `${told}, not ${given.length > LONGEST ? `${given.slice(0, LONGEST)}…` : given}`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}
