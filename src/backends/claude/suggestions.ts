// Claude's permission suggestions: what it would remember and where it would write it, in words for people. What is
// not understood here is never sent back, so nothing is granted that was not shown. Seen with 2.1.197.
import * as z from "zod";
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
  /** Git's own list of ignored files, where claude adds its local settings; absent outside of a repository. */
  gitIgnore?: string;
}

export function readSuggestions(value: unknown): Suggestion[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => Suggestion.safeParse(item).data ?? []);
}

export function forSession(suggestions: readonly Suggestion[]): Suggestion[] {
  return suggestions.map((suggestion) => ({ ...suggestion, destination: "session" }));
}

/** The choices that remember something; none when there is nothing to remember. */
export function rememberingChoices(suggestions: readonly Suggestion[], files: SettingsFiles): Choice[] {
  if (suggestions.length === 0) return [];
  const session: Choice = { decision: "acceptForSession", remembers: suggestions.flatMap(inWords) };
  const kept = suggestions.filter(isWritten);
  if (kept.length === 0) return [session];
  const remembers = suggestions.filter((suggestion) => !isWritten(suggestion)).flatMap(inWords);
  const always: Choice = {
    decision: "acceptAlways",
    ...(remembers.length > 0 ? { remembers } : {}),
    writes: writesOf(kept, files),
  };
  return [session, always];
}

function isWritten(suggestion: Suggestion): boolean {
  // Claude keeps this mode to the session whatever the destination says.
  if (suggestion.type === "setMode" && suggestion.mode === "bypassPermissions") return false;
  return suggestion.destination !== "session" && suggestion.destination !== "cliArg";
}

function writesOf(suggestions: readonly Suggestion[], files: SettingsFiles): NonNullable<Choice["writes"]> {
  const lines = new Map<string, string[]>();
  for (const suggestion of suggestions) {
    const path = files[suggestion.destination as "localSettings"];
    lines.set(path, [...(lines.get(path) ?? []), ...asSettings(suggestion)]);
  }
  const writes = [...lines].map(([path, content]) => ({ path, content: content.join("\n") }));
  if (files.gitIgnore === undefined || !lines.has(files.localSettings)) return writes;
  const content = "**/.claude/settings.local.json (unless git ignores it already)";
  return [...writes, { path: files.gitIgnore, content }];
}

/** As it changes the settings file. */
function asSettings(suggestion: Suggestion): string[] {
  switch (suggestion.type) {
    case "addRules":
      return suggestion.rules.map((rule) => `permissions.${suggestion.behavior} += ${ruleText(rule)}`);
    case "removeRules":
      return suggestion.rules.map((rule) => `permissions.${suggestion.behavior} -= ${ruleText(rule)}`);
    case "replaceRules":
      return [`permissions.${suggestion.behavior} = ${JSON.stringify(suggestion.rules.map(ruleText))}`];
    case "addDirectories":
      return suggestion.directories.map((dir) => `permissions.additionalDirectories += ${dir}`);
    case "removeDirectories":
      return suggestion.directories.map((dir) => `permissions.additionalDirectories -= ${dir}`);
    case "setMode":
      return [`permissions.defaultMode = ${suggestion.mode}`];
  }
}

function inWords(suggestion: Suggestion): string[] {
  switch (suggestion.type) {
    case "addRules":
      return suggestion.rules.map((rule) => `${VERBS[suggestion.behavior]} ${ruleText(rule)}`);
    case "removeRules":
      return suggestion.rules.map((rule) => `drop the rule: ${VERBS[suggestion.behavior]} ${ruleText(rule)}`);
    case "replaceRules":
      return [
        `instead of all such rules: ${VERBS[suggestion.behavior]} ${suggestion.rules.map(ruleText).join(", ")}`,
      ];
    case "addDirectories":
      return suggestion.directories.map((dir) => `work in the directory ${dir}`);
    case "removeDirectories":
      return suggestion.directories.map((dir) => `no longer work in the directory ${dir}`);
    case "setMode":
      return [`switch to the permission mode ${suggestion.mode}`];
  }
}

const VERBS = { allow: "allow", deny: "deny", ask: "ask before" } as const;

/** As it stands in a settings file: parentheses and backslashes of the content are escaped. */
function ruleText(rule: z.infer<typeof Rule>): string {
  if (!rule.ruleContent) return rule.toolName;
  return `${rule.toolName}(${rule.ruleContent.replace(/[\\()]/g, "\\$&")})`;
}
