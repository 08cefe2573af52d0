// Matches rules against calls, and ranks them by specificity.
import { isMcpPattern, matchesMcpName } from "../mcp/names.ts";
import { createGlobMatcher } from "../workspace/glob.ts";
import { allowsCommand, mightRun } from "./command-rules.ts";
import type { PermissionRule, PermissionTarget } from "./types.ts";

/** `executor` is undefined for our tools, or the agent that runs the tool itself (`claudecode`). */
export interface CalledTool {
  name: string;
  executor: string | undefined;
}

/** How closely a rule names the tool. */
const EVERYTHING = 0;
const OF_EXECUTOR = 1;
const OF_ANY = 2;
const EXACT = 3;
/** Larger than any pattern length, so that a name beats "*" and a match beats a name. */
const STEP = 1_000_000;

/** Everything must match: lexical and real path, or the words of a resolved command. */
export function matchesToAllow(
  rule: PermissionRule,
  tool: CalledTool,
  target: PermissionTarget | undefined,
): boolean {
  if (rateCloseness(rule.tool, tool, isSame) === undefined) return false;
  const { pathGlob, commandPrefix } = rule.match ?? {};
  if (pathGlob === undefined && commandPrefix === undefined) return true;
  if (pathGlob !== undefined && commandPrefix !== undefined) return false;
  if (target?.kind === "path" && pathGlob !== undefined) {
    const isMatch = compileGlob(pathGlob, {}, false);
    return isMatch(target.lexical) && isMatch(target.real);
  }
  return (
    target?.kind === "command" && commandPrefix !== undefined && allowsCommand(commandPrefix, target.resolved)
  );
}

/** One match is enough: either path, or any nested command. A glob without "/" matches at any depth, ignoring case. */
export function matchesToDeny(
  rule: PermissionRule,
  tool: CalledTool,
  target: PermissionTarget | undefined,
): boolean {
  if (rateCloseness(rule.tool, tool, isAlike) === undefined) return false;
  const { pathGlob, commandPrefix } = rule.match ?? {};
  if (pathGlob === undefined && commandPrefix === undefined) return true;
  if (target?.kind === "path" && pathGlob !== undefined) {
    const isMatch = compileGlob(pathGlob, { anyDepth: true, ignoreCase: true }, true);
    return isMatch(target.lexical) || isMatch(target.real);
  }
  return target?.kind === "command" && commandPrefix !== undefined && mightRun(commandPrefix, target.command);
}

/** A rule for all tools, or all tools of this executor, without a match. */
export function isCatchAll(rule: PermissionRule, tool: CalledTool): boolean {
  return !hasMatch(rule) && (rateCloseness(rule.tool, tool, isAlike) ?? EXACT) <= OF_EXECUTOR;
}

/** A match beats a name, a name beats "*", and a longer match beats a shorter one. For rules that match. */
export function rateSpecificity(rule: PermissionRule, tool: CalledTool): number {
  const length = Math.max(rule.match?.pathGlob?.length ?? 0, rule.match?.commandPrefix?.trim().length ?? 0);
  const close = rateCloseness(rule.tool, tool, isAlike) ?? EVERYTHING;
  return hasMatch(rule) ? (EXACT + 1) * (STEP + length) + close : close * STEP;
}

function hasMatch({ match }: PermissionRule): boolean {
  return match?.pathGlob !== undefined || match?.commandPrefix !== undefined;
}

type Compare = (pattern: string, name: string) => boolean;
const isSame: Compare = (pattern, name) => pattern === name;
const isAlike: Compare = (pattern, name) => pattern.toLowerCase() === name.toLowerCase();

/**
 * Undefined if the rule is for other tools. Ours are `bash`, `demian.bash`, `*.bash`, and `mcp__github__*` for those of an
 * MCP server; those of other executors always have a prefix: `claudecode.Bash`, `*.Bash`, `claudecode.*`.
 */
function rateCloseness(
  pattern: string,
  { name, executor }: CalledTool,
  compare: Compare,
): number | undefined {
  if (pattern === "*" || pattern === "*.*") return EVERYTHING;
  if (executor === undefined) {
    if (pattern === "demian.*") return EVERYTHING;
    const plain = pattern.replace(/^(demian|\*)\./, "");
    if (isMcpPattern(plain)) return matchesMcpName(plain, name) ? rateMcpPattern(plain) : undefined;
    return plain === name ? EXACT : undefined;
  }
  const [, who = "", what = ""] = /^([^.]*)\.(.*)$/s.exec(pattern) ?? [];
  const isNamed = compare(what, name);
  if (compare(who, executor)) return isNamed ? EXACT : what === "*" ? OF_EXECUTOR : undefined;
  return who === "*" && isNamed ? OF_ANY : undefined;
}

/** `mcp__*` is less specific than `mcp__github__*`. */
function rateMcpPattern(pattern: string): number {
  return pattern === "mcp__*" ? OF_EXECUTOR : OF_ANY;
}

/** An invalid glob denies everything and allows nothing. */
function compileGlob(
  glob: string,
  options: Parameters<typeof createGlobMatcher>[1],
  ifBad: boolean,
): (path: string) => boolean {
  try {
    return createGlobMatcher(glob, options);
  } catch {
    return () => ifBad;
  }
}
