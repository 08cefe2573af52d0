// Whether a rule is about a call, and which of two rules is closer to it.
import { globMatcher } from "../workspace/glob.ts";
import { allowsCommand, mightRun } from "./command-rules.ts";
import type { PermissionRule, PermissionTarget } from "./types.ts";

/** Whose tool it is: ours, or one that another agent runs itself (`claudecode`). */
export interface CalledTool {
  name: string;
  executor: string | undefined;
}

/** How close a rule's name for a tool is to the tool. */
const EVERYTHING = 0;
const OF_EXECUTOR = 1;
const OF_ANY = 2;
const EXACT = 3;
/** Above every length, so that a name beats "*" and a match beats a name. */
const STEP = 1_000_000;

/** Everything must fit: lexical and real path, the words of a command that is certain. */
export function fitsToAllow(
  rule: PermissionRule,
  tool: CalledTool,
  target: PermissionTarget | undefined,
): boolean {
  if (closeness(rule.tool, tool, isSame) === undefined) return false;
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
  tool: CalledTool,
  target: PermissionTarget | undefined,
): boolean {
  if (closeness(rule.tool, tool, isAlike) === undefined) return false;
  const { pathGlob, commandPrefix } = rule.match ?? {};
  if (pathGlob === undefined && commandPrefix === undefined) return true;
  if (target?.kind === "path" && pathGlob !== undefined) {
    const isMatch = matcher(pathGlob, { anyDepth: true, ignoreCase: true }, true);
    return isMatch(target.lexical) || isMatch(target.real);
  }
  return target?.kind === "command" && commandPrefix !== undefined && mightRun(commandPrefix, target.command);
}

/** A rule about everything, or about everything that this executor has, without a match. */
export function isCatchAll(rule: PermissionRule, tool: CalledTool): boolean {
  return !hasMatch(rule) && (closeness(rule.tool, tool, isAlike) ?? EXACT) <= OF_EXECUTOR;
}

/** A match is closer than a name, a name closer than "*"; of two matches the longer one. Of a rule that fits. */
export function specificity(rule: PermissionRule, tool: CalledTool): number {
  const length = Math.max(rule.match?.pathGlob?.length ?? 0, rule.match?.commandPrefix?.trim().length ?? 0);
  const close = closeness(rule.tool, tool, isAlike) ?? EVERYTHING;
  return hasMatch(rule) ? (EXACT + 1) * (STEP + length) + close : close * STEP;
}

function hasMatch({ match }: PermissionRule): boolean {
  return match?.pathGlob !== undefined || match?.commandPrefix !== undefined;
}

type Compare = (pattern: string, name: string) => boolean;
const isSame: Compare = (pattern, name) => pattern === name;
const isAlike: Compare = (pattern, name) => pattern.toLowerCase() === name.toLowerCase();

/**
 * Undefined: the rule is not about this tool. Ours are `bash`, `demian.bash`, `*.bash`; those of another executor have a
 * prefix always: `claudecode.Bash`, `*.Bash`, `claudecode.*`.
 */
function closeness(pattern: string, { name, executor }: CalledTool, compare: Compare): number | undefined {
  if (pattern === "*" || pattern === "*.*") return EVERYTHING;
  if (executor === undefined) {
    if (pattern === "demian.*") return EVERYTHING;
    return pattern.replace(/^(demian|\*)\./, "") === name ? EXACT : undefined;
  }
  const [, who = "", what = ""] = /^([^.]*)\.(.*)$/s.exec(pattern) ?? [];
  const isNamed = compare(what, name);
  if (compare(who, executor)) return isNamed ? EXACT : what === "*" ? OF_EXECUTOR : undefined;
  return who === "*" && isNamed ? OF_ANY : undefined;
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
