// Whether a rule is about a call, and which of two rules is closer to it.
import { globMatcher } from "../workspace/glob.ts";
import { allowsCommand, mightRun } from "./command-rules.ts";
import type { PermissionRule, PermissionTarget } from "./types.ts";

/** Above every length, so that a name beats "*" and a match beats a name. */
const STEP = 1_000_000;

/** Everything must fit: lexical and real path, the words of a command that is certain. */
export function fitsToAllow(
  rule: PermissionRule,
  tool: string,
  target: PermissionTarget | undefined,
): boolean {
  if (!fitsTool(rule.tool, tool)) return false;
  const { pathGlob, commandPrefix } = rule.match ?? {};
  if (pathGlob === undefined && commandPrefix === undefined) return true;
  if (pathGlob !== undefined && commandPrefix !== undefined) return false;
  if (target?.kind === "path" && pathGlob !== undefined) {
    const isMatch = matcher(pathGlob, {}, false);
    return isMatch(target.lexical) && isMatch(target.real);
  }
  return (
    target?.kind === "command" && commandPrefix !== undefined && allowsCommand(commandPrefix, target.resolved)
  );
}

/** One sign is enough: either path, any command in it. A glob without "/" fits at every depth, in any case of letters. */
export function fitsToDeny(
  rule: PermissionRule,
  tool: string,
  target: PermissionTarget | undefined,
): boolean {
  if (!fitsTool(rule.tool, tool)) return false;
  const { pathGlob, commandPrefix } = rule.match ?? {};
  if (pathGlob === undefined && commandPrefix === undefined) return true;
  if (target?.kind === "path" && pathGlob !== undefined) {
    const isMatch = matcher(pathGlob, { anyDepth: true, ignoreCase: true }, true);
    return isMatch(target.lexical) || isMatch(target.real);
  }
  return target?.kind === "command" && commandPrefix !== undefined && mightRun(commandPrefix, target.command);
}

/** A rule about everything, without a match. */
export function isCatchAll(rule: PermissionRule): boolean {
  return (
    isWildcard(rule.tool) && rule.match?.pathGlob === undefined && rule.match?.commandPrefix === undefined
  );
}

/** A match is closer than a name, a name closer than "*"; of two matches the longer one. */
export function specificity(rule: PermissionRule): number {
  const length = Math.max(rule.match?.pathGlob?.length ?? 0, rule.match?.commandPrefix?.trim().length ?? 0);
  const isMatched = rule.match?.pathGlob !== undefined || rule.match?.commandPrefix !== undefined;
  return (isMatched ? 2 * STEP + 2 * length : 0) + (isWildcard(rule.tool) ? 0 : isMatched ? 1 : STEP);
}

/** Ours are `bash`, `demian.bash`, `*.bash`; names with another executor before the dot are not about us. */
function fitsTool(pattern: string, tool: string): boolean {
  return isWildcard(pattern) || pattern.replace(/^(demian|\*)\./, "") === tool;
}

function isWildcard(pattern: string): boolean {
  return pattern === "*" || pattern === "demian.*" || pattern === "*.*";
}

/** A glob that cannot be read denies everything and allows nothing. */
function matcher(
  glob: string,
  options: Parameters<typeof globMatcher>[1],
  ifBad: boolean,
): (path: string) => boolean {
  try {
    return globMatcher(glob, options);
  } catch {
    return () => ifBad;
  }
}
