// The last check before a file is touched: paths no tool may read or write, whatever the rules say.
import type { PermissionTarget } from "../permissions/types.ts";
import { isSecretPath, isWriteProtected } from "../workspace/protected.ts";
import type { Located } from "../workspace/types.ts";
import { ToolError, type ToolPlan } from "./types.ts";

export function toPathTarget(access: "read" | "write", { lexical, real }: Located): PermissionTarget {
  return { kind: "path", access, lexical, real };
}

export function isSecret({ lexical, real }: Located): boolean {
  return isSecretPath(lexical) || isSecretPath(real);
}

export function isProtected({ lexical, real }: Located): boolean {
  return isWriteProtected(lexical) || isWriteProtected(real);
}

/** Throws `protected`. */
export function checkReadable(located: Located): void {
  if (!isSecret(located)) return;
  throw new ToolError("protected", `${located.lexical} may contain secrets and cannot be read; ask the user`);
}

/** Throws `protected`. */
export function checkWritable(located: Located): void {
  if (!isProtected(located)) return;
  throw new ToolError("protected", `${located.lexical} is protected and cannot be written; ask the user`);
}

/** One specific file was allowed; a link that now points to another one is refused. Throws `changed_since`. */
export function checkSamePath(plan: ToolPlan, located: Located): void {
  const allowed = plan.targets[0];
  if (allowed?.kind === "path" && allowed.real === located.real) return;
  const message = `${located.lexical} now points to ${located.real}, which was not approved; try again`;
  throw new ToolError("changed_since", message);
}

/** A path on one line, whatever characters it contains. */
export function formatPath(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach the output
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}

/** The title shown to the user: the name, and the target if it is a link. */
export function formatTitle(tool: string, { lexical, real }: Located): string {
  return `${tool}: ${formatPath(lexical)}${real === lexical ? "" : ` (a link to ${formatPath(real)})`}`;
}
