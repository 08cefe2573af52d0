// Claude's permission suggestions, described for the user: what claude would remember, and which file it would write.
// A suggestion that is not understood is never sent back, so nothing is granted that was not shown. Tested with 2.1.197
// and 2.1.325.

import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { Choice } from "../../protocol/requests.ts";

const Rule = z.object({ toolName: z.string(), ruleContent: z.string().optional() });
const behavior = z.enum(["allow", "deny", "ask"]);
const destination = z.enum(["userSettings", "projectSettings", "localSettings", "session", "cliArg"]);
const ruleUpdate = { rules: z.array(Rule), behavior, destination };
const directoryUpdate = { directories: z.array(z.string()), destination };

const Suggestion = z.discriminatedUnion("type", [
  z.object({ type: z.literal("addRules"), ...ruleUpdate }),
  z.object({ type: z.literal("replaceRules"), ...ruleUpdate }),
  z.object({ type: z.literal("removeRules"), ...ruleUpdate }),
  z.object({ type: z.literal("addDirectories"), ...directoryUpdate }),
  z.object({ type: z.literal("removeDirectories"), ...directoryUpdate }),
  z.object({ type: z.literal("setMode"), mode: z.string(), destination }),
]);
export type Suggestion = z.infer<typeof Suggestion>;

/** The files of the three destinations that outlive the process. */
export interface SettingsFiles {
  userSettings: string;
  projectSettings: string;
  localSettings: string;
  /** Git's global ignore file, to which claude adds its local settings; absent outside a repository. */
  gitIgnore?: string;
}

export function readSuggestions(value: unknown): Suggestion[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => Suggestion.safeParse(item).data ?? []);
}

/** A choice that makes claude remember something, and the updates that it sends to claude. */
export interface Grant {
  choice: Choice;
  updates: Suggestion[];
}

/**
 * One choice per suggestion. The choice without an option covers only the call itself; anything broader (a pattern, a
 * directory, a permission mode) has an option, so it is not granted by accident.
 */
export function listGrants(
  suggestions: readonly Suggestion[],
  call: { tool: string; input: JsonObject },
  files: SettingsFiles,
): Grant[] {
  const exact = findExactRule(suggestions, call);
  const others = suggestions.filter(
    (one) => exact === undefined || describeSuggestion(one).join() !== describeSuggestion(exact).join(),
  );
  const names = new Map<string, number>();
  return [
    ...(exact === undefined ? [] : toGrants(exact, undefined, files)),
    ...others.flatMap((suggestion) => {
      const name = toOptionName(suggestion);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      return toGrants(suggestion, count === 1 ? name : `${name}-${count}`, files);
    }),
  ];
}

/** Claude rarely suggests the command itself: for `touch x` it is the rule `touch x *` (2.1.197, 2.1.325). */
function findExactRule(
  suggestions: readonly Suggestion[],
  { tool, input }: { tool: string; input: JsonObject },
): Suggestion | undefined {
  const like = suggestions.find(
    (one) =>
      one.type === "addRules" &&
      one.behavior === "allow" &&
      one.rules.every(({ toolName }) => toolName === tool),
  );
  if (like?.type !== "addRules") return undefined;
  if (tool !== "Bash") return like.rules.some(({ ruleContent }) => ruleContent) ? undefined : like;
  const { command } = input;
  // Claude would take it for a pattern.
  if (typeof command !== "string" || command.trim() === "" || command.includes("*")) return undefined;
  return { ...like, rules: [{ toolName: tool, ruleContent: command }] };
}

function toGrants(suggestion: Suggestion, option: string | undefined, files: SettingsFiles): Grant[] {
  const named = { ...defined({ option }), remembers: describeSuggestion(suggestion) };
  const inSession: Suggestion = { ...suggestion, destination: "session" };
  const session: Grant = { choice: { decision: "acceptForSession", ...named }, updates: [inSession] };
  if (!isWritten(suggestion)) return [session];
  const writes = listWrites(suggestion, files);
  // In both places: claude ignores its own settings in a directory that is not trusted.
  const updates = [suggestion, inSession];
  return [session, { choice: { decision: "acceptAlways", ...named, writes }, updates }];
}

/** A name that is easy to type. */
function toOptionName(suggestion: Suggestion): string {
  if (suggestion.type === "setMode") return `mode-${suggestion.mode.replace(/[^\w.-]/g, "_").slice(0, 40)}`;
  return suggestion.type.endsWith("Directories") ? "directories" : "rules";
}

function isWritten(suggestion: Suggestion): boolean {
  // Claude limits this mode to the session, whatever the destination.
  if (suggestion.type === "setMode" && suggestion.mode === "bypassPermissions") return false;
  return suggestion.destination !== "session" && suggestion.destination !== "cliArg";
}

function listWrites(suggestion: Suggestion, files: SettingsFiles): NonNullable<Choice["writes"]> {
  const path = files[suggestion.destination as "localSettings"];
  const writes = [{ path, content: describeSettings(suggestion).join("\n") }];
  if (files.gitIgnore === undefined || path !== files.localSettings) return writes;
  const content = "**/.claude/settings.local.json (unless already ignored)";
  return [...writes, { path: files.gitIgnore, content }];
}

/** The changes to the settings file. */
function describeSettings(suggestion: Suggestion): string[] {
  switch (suggestion.type) {
    case "addRules":
      return suggestion.rules.map((rule) => `permissions.${suggestion.behavior} += ${formatRule(rule)}`);
    case "removeRules":
      return suggestion.rules.map((rule) => `permissions.${suggestion.behavior} -= ${formatRule(rule)}`);
    case "replaceRules":
      return [`permissions.${suggestion.behavior} = ${JSON.stringify(suggestion.rules.map(formatRule))}`];
    case "addDirectories":
      return suggestion.directories.map((dir) => `permissions.additionalDirectories += ${dir}`);
    case "removeDirectories":
      return suggestion.directories.map((dir) => `permissions.additionalDirectories -= ${dir}`);
    case "setMode":
      return [`permissions.defaultMode = ${suggestion.mode}`];
  }
}

function describeSuggestion(suggestion: Suggestion): string[] {
  switch (suggestion.type) {
    case "addRules":
      return suggestion.rules.map((rule) => `${VERBS[suggestion.behavior]} ${formatRule(rule)}`);
    case "removeRules":
      return suggestion.rules.map(
        (rule) => `remove the rule: ${VERBS[suggestion.behavior]} ${formatRule(rule)}`,
      );
    case "replaceRules":
      return [
        `replace all rules of this kind: ${VERBS[suggestion.behavior]} ${suggestion.rules.map(formatRule).join(", ")}`,
      ];
    case "addDirectories":
      return suggestion.directories.map((dir) => `allow work in ${dir}`);
    case "removeDirectories":
      return suggestion.directories.map((dir) => `no longer allow work in ${dir}`);
    case "setMode":
      return [`switch to permission mode ${suggestion.mode}${MODES.get(suggestion.mode) ?? ""}`];
  }
}

const MODES: ReadonlyMap<string, string> = new Map([
  ["acceptEdits", ": file edits and commands such as mkdir, touch, mv and rm run without asking"],
  ["bypassPermissions", ": everything runs without asking"],
]);
const VERBS = { allow: "allow", deny: "deny", ask: "ask before" } as const;

/** As written in a settings file, with parentheses and backslashes escaped. */
function formatRule(rule: z.infer<typeof Rule>): string {
  if (!rule.ruleContent) return rule.toolName;
  return `${rule.toolName}(${rule.ruleContent.replace(/[\\()]/g, "\\$&")})`;
}
