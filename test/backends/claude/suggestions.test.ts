import { describe, expect, test } from "vitest";
import { readSuggestions, rememberingChoices } from "../../../src/backends/claude/suggestions.ts";

const FILES = { userSettings: "/u.json", projectSettings: "/p.json", localSettings: "/l.json" };
const rules = (type: string, behavior: string, destination: string, ...contents: string[]) => ({
  type,
  behavior,
  destination,
  rules: contents.map((ruleContent) => ({
    toolName: "Bash",
    ...(ruleContent === "" ? {} : { ruleContent }),
  })),
});
const choicesOf = (files: Parameters<typeof rememberingChoices>[1], ...items: object[]) =>
  rememberingChoices(readSuggestions(items), files);

test("only what is understood of a suggestion is kept: nothing goes back that nobody was shown", () => {
  const known = rules("addRules", "allow", "localSettings", "a");
  const odd = {
    ...known,
    scope: "everything",
    rules: known.rules.map((rule) => ({ ...rule, also: ["Write"] })),
  };
  const mode = { type: "setMode", mode: "plan", destination: "session" };
  const dirs = { type: "addDirectories", directories: ["/d"], destination: "session" };
  const items = [odd, { ...mode, until: "for ever" }, { ...dirs, recursive: true }];
  expect(readSuggestions(items)).toEqual([known, mode, dirs]);
});

describe("what `always` writes", () => {
  test.each([
    [
      rules("addRules", "allow", "localSettings", "a", "b"),
      "permissions.allow += Bash(a)\npermissions.allow += Bash(b)",
    ],
    [rules("addRules", "deny", "localSettings", ""), "permissions.deny += Bash"],
    [
      rules("addRules", "allow", "localSettings", "echo \\(x)"),
      "permissions.allow += Bash(echo \\\\\\(x\\))",
    ],
    [rules("removeRules", "ask", "localSettings", "a"), "permissions.ask -= Bash(a)"],
    [rules("replaceRules", "allow", "localSettings", "a", "b"), 'permissions.allow = ["Bash(a)","Bash(b)"]'],
    [
      { type: "addDirectories", directories: ["/d"], destination: "localSettings" },
      "permissions.additionalDirectories += /d",
    ],
    [
      { type: "removeDirectories", directories: ["/d"], destination: "localSettings" },
      "permissions.additionalDirectories -= /d",
    ],
    [{ type: "setMode", mode: "plan", destination: "localSettings" }, "permissions.defaultMode = plan"],
  ])("%j", (suggestion, content) => {
    const [session, always] = choicesOf(FILES, suggestion);
    expect(session?.remembers?.join()).not.toBe("");
    expect(always).toEqual({ decision: "acceptAlways", writes: [{ path: "/l.json", content }] });
  });

  test("each file is named once, with all that is added to it", () => {
    const [, always] = choicesOf(
      FILES,
      rules("addRules", "allow", "userSettings", "a"),
      rules("addRules", "allow", "projectSettings", "b"),
      rules("addRules", "allow", "userSettings", "c"),
    );
    expect(always?.writes).toEqual([
      { path: "/u.json", content: "permissions.allow += Bash(a)\npermissions.allow += Bash(c)" },
      { path: "/p.json", content: "permissions.allow += Bash(b)" },
    ]);
  });

  test("in a repository the local settings are also added to git's list of ignored files", () => {
    const files = { ...FILES, gitIgnore: "/ignore" };
    const [, always] = choicesOf(files, rules("addRules", "allow", "localSettings", "a"));
    expect(always?.writes?.map((write) => write.path)).toEqual(["/l.json", "/ignore"]);
    const [, project] = choicesOf(files, rules("addRules", "allow", "projectSettings", "a"));
    expect(project?.writes?.map((write) => write.path)).toEqual(["/p.json"]);
  });
});
