// Explains a zod failure in one sentence that names the field: `/options/claude/modle: unexpected property`.
import type * as z from "zod";

const MAX_SHOWN = 3;

/** `base` is the path of the checked value in the frame: "/options/claude". */
export function explainIssues(issues: readonly z.core.$ZodIssue[], base = ""): string {
  return issues
    .slice(0, MAX_SHOWN)
    .map((issue) => explainIssue(issue, base))
    .join("; ");
}

function explainIssue(issue: z.core.$ZodIssue, base: string): string {
  const at = base + pointer(issue.path) || "/";
  if (issue.code === "unrecognized_keys") {
    const shown = issue.keys.slice(0, MAX_SHOWN);
    const more = issue.keys.length > shown.length ? [`and ${issue.keys.length - shown.length} more`] : [];
    return [...shown.map((key) => `${at === "/" ? "" : at}/${key}: unexpected property`), ...more].join("; ");
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    return explainIssues(nearestBranch(issue.errors), at === "/" ? "" : at);
  }
  if (
    issue.code === "invalid_type" &&
    issue.input === undefined &&
    /received undefined/.test(issue.message)
  ) {
    return `${at}: required, expected ${issue.expected}`;
  }
  // Clearer than zod's message for a negative seq or size.
  if (
    issue.code === "too_small" &&
    issue.origin !== "string" &&
    issue.origin !== "array" &&
    issue.minimum === 0
  ) {
    return `${at}: must be 0 or more`;
  }
  return `${at}: ${issue.message}`;
}

/** Of several shapes, the one probably meant: with the fewest errors. */
function nearestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  return branches.reduce((best, branch) => (faults(branch) < faults(best) ? branch : best));
}

function faults(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
}

function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part)}`).join("");
}
