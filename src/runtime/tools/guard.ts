// The last line before a file is touched: what no tool may read or write, whatever a rule said before.
import type { PermissionTarget } from "../permissions/types.ts";
import { isSecretPath, isWriteProtected } from "../workspace/protected.ts";
import type { Located } from "../workspace/types.ts";
import { ToolError, type ToolPlan } from "./types.ts";

export function pathTarget(access: "read" | "write", { lexical, real }: Located): PermissionTarget {
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
  throw new ToolError("protected", `${located.lexical} may hold secrets and cannot be read; ask the user`);
}

/** Throws `protected`. */
export function checkWritable(located: Located): void {
  if (!isProtected(located)) return;
  throw new ToolError("protected", `${located.lexical} is protected and cannot be written; ask the user`);
}

/** What was allowed is one file; a link that leads to another one by now is not. Throws `changed_since`. */
export function checkSamePath(plan: ToolPlan, located: Located): void {
  const allowed = plan.targets[0];
  if (allowed?.kind === "path" && allowed.real === located.real) return;
  const message = `${located.lexical} leads to ${located.real} by now, which is not what was allowed; try again`;
  throw new ToolError("changed_since", message);
}

/** A path on one line, whatever is in its name. */
export function shownPath(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach the output
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}

/** What a person is shown: the name, and where it really leads when that is elsewhere. */
export function titleOf(tool: string, { lexical, real }: Located): string {
  return `${tool}: ${shownPath(lexical)}${real === lexical ? "" : ` (a link to ${shownPath(real)})`}`;
}
