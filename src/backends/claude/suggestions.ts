// Claude's permission suggestions: what it would remember and where it would write it, in words for people. What is
// not understood here is never sent back, so nothing is granted that was not shown. Seen with 2.1.197 and 2.1.325.
import * as z from "zod";
import type { JsonObject } from "../../base/json.ts";
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

/** A choice that makes claude remember something, and what claude is sent for it. */
export interface Grant {
  choice: Choice;
  updates: Suggestion[];
}

/**
 * Each suggestion is a choice of its own. The choice without an option covers the call itself and nothing more; what
 * goes further (a pattern, a directory, a permission mode) has an option, so nobody grants it by accident.
 */
export function grantsOf(
  suggestions: readonly Suggestion[],
  call: { tool: string; input: JsonObject },
  files: SettingsFiles,
): Grant[] {
  const exact = exactRule(suggestions, call);
  const others = suggestions.filter(
    (one) => exact === undefined || inWords(one).join() !== inWords(exact).join(),
  );
  const names = new Map<string, number>();
  return [
    ...(exact === undefined ? [] : toGrants(exact, undefined, files)),
    ...others.flatMap((suggestion) => {
      const name = nameOf(suggestion);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      return toGrants(suggestion, count === 1 ? name : `${name}-${count}`, files);
    }),
  ];
}

/** Claude rarely suggests the command itself: for `touch x` it is the rule `touch x *` (2.1.197, 2.1.325). */
function exactRule(
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
  // Claude would read a pattern.
  if (typeof command !== "string" || command.trim() === "" || command.includes("*")) return undefined;
  return { ...like, rules: [{ toolName: tool, ruleContent: command }] };
}

function toGrants(suggestion: Suggestion, option: string | undefined, files: SettingsFiles): Grant[] {
  const named = { ...(option === undefined ? {} : { option }), remembers: inWords(suggestion) };
  const inSession: Suggestion = { ...suggestion, destination: "session" };
  const session: Grant = { choice: { decision: "acceptForSession", ...named }, updates: [inSession] };
  if (!isWritten(suggestion)) return [session];
  const writes = writesOf(suggestion, files);
  // In both places: claude does not read what it wrote in a directory that nobody has declared trusted.
  const updates = [suggestion, inSession];
  return [session, { choice: { decision: "acceptAlways", ...named, writes }, updates }];
}

/** A name for the command line. */
function nameOf(suggestion: Suggestion): string {
  if (suggestion.type === "setMode") return `mode-${suggestion.mode.replace(/[^\w.-]/g, "_").slice(0, 40)}`;
  return suggestion.type.endsWith("Directories") ? "directories" : "rules";
}

function isWritten(suggestion: Suggestion): boolean {
  // Claude keeps this mode to the session whatever the destination says.
  if (suggestion.type === "setMode" && suggestion.mode === "bypassPermissions") return false;
  return suggestion.destination !== "session" && suggestion.destination !== "cliArg";
}

function writesOf(suggestion: Suggestion, files: SettingsFiles): NonNullable<Choice["writes"]> {
  const path = files[suggestion.destination as "localSettings"];
  const writes = [{ path, content: asSettings(suggestion).join("\n") }];
  if (files.gitIgnore === undefined || path !== files.localSettings) return writes;
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
      return [`switch to the permission mode ${suggestion.mode}${MODES.get(suggestion.mode) ?? ""}`];
  }
}

const MODES: ReadonlyMap<string, string> = new Map([
  ["acceptEdits", ": edits of files and commands such as mkdir, touch, mv and rm run without asking"],
  ["bypassPermissions", ": everything runs without asking"],
]);
const VERBS = { allow: "allow", deny: "deny", ask: "ask before" } as const;

/** As it stands in a settings file: parentheses and backslashes of the content are escaped. */
function ruleText(rule: z.infer<typeof Rule>): string {
  if (!rule.ruleContent) return rule.toolName;
  return `${rule.toolName}(${rule.ruleContent.replace(/[\\()]/g, "\\$&")})`;
}
