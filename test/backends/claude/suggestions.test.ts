import { describe, expect, test } from "vitest";
import { listGrants, readSuggestions, type SettingsFiles } from "../../../src/backends/claude/suggestions.ts";

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
const TOUCH = rules("addRules", "allow", "localSettings", "touch x *");
const DIRECTORY = { type: "addDirectories", directories: ["/d"], destination: "session" };
const MODE = { type: "setMode", mode: "acceptEdits", destination: "session" };
/** For a call that no suggestion fits exactly. */
const grants = (files: SettingsFiles, ...items: object[]) =>
  listGrants(readSuggestions(items), { tool: "Other", input: {} }, files);
const choicesOf = (files: SettingsFiles, ...items: object[]) =>
  grants(files, ...items).map(({ choice }) => choice);
const ofCommand = (command: string, ...items: object[]) =>
  listGrants(readSuggestions(items), { tool: "Bash", input: { command } }, FILES);

test("only what is understood of a suggestion is kept: nothing goes back that was not shown", () => {
  const known = rules("addRules", "allow", "localSettings", "a");
  const odd = {
    ...known,
    scope: "everything",
    rules: known.rules.map((rule) => ({ ...rule, also: ["Write"] })),
  };
  const mode = { type: "setMode", mode: "plan", destination: "session" };
  const dirs = { type: "addDirectories", directories: ["/d"], destination: "session" };
  const items = [odd, { ...mode, until: "forever" }, { ...dirs, recursive: true }];
  expect(readSuggestions(items)).toEqual([known, mode, dirs]);
});

describe("each suggestion is its own choice", () => {
  test("the choice without an option remembers the exact command, and nothing else", () => {
    const exact = { toolName: "Bash", ruleContent: "touch x" };
    const plain = ofCommand("touch x", TOUCH, DIRECTORY, MODE).filter(
      ({ choice }) => choice.option === undefined,
    );
    expect(plain.map(({ choice }) => [choice.decision, choice.remembers])).toEqual([
      ["acceptForSession", ["allow Bash(touch x)"]],
      ["acceptAlways", ["allow Bash(touch x)"]],
    ]);
    expect(plain[0]?.updates).toEqual([{ ...TOUCH, rules: [exact], destination: "session" }]);
    expect(plain[1]?.updates).toEqual([
      { ...TOUCH, rules: [exact] },
      { ...TOUCH, rules: [exact], destination: "session" },
    ]);
  });

  test("a pattern, a directory and a permission mode are each chosen by name, and bring nothing else along", () => {
    const named = ofCommand("touch x", TOUCH, DIRECTORY, MODE).filter(
      ({ choice }) => choice.option !== undefined,
    );
    expect(named.map(({ choice, updates }) => [choice.decision, choice.option, updates])).toEqual([
      ["acceptForSession", "rules", [{ ...TOUCH, destination: "session" }]],
      ["acceptAlways", "rules", [TOUCH, { ...TOUCH, destination: "session" }]],
      ["acceptForSession", "directories", [DIRECTORY]],
      ["acceptForSession", "mode-acceptEdits", [MODE]],
    ]);
    expect(named.at(-1)?.choice.remembers?.join()).toContain("rm run without asking");
  });

  test("without a rule for the tool that asks, nothing is granted without an option", () => {
    const asked = [
      ofCommand("touch x", DIRECTORY, MODE),
      ofCommand("rm *.txt", rules("addRules", "allow", "localSettings", "rm *.txt")),
      ofCommand("touch x", rules("addRules", "deny", "localSettings", "touch x")),
      grants(FILES, TOUCH),
    ];
    for (const list of asked) {
      expect(list.length).toBeGreaterThan(0);
      expect(list.filter(({ choice }) => choice.option === undefined)).toEqual([]);
    }
  });

  test("a tool without patterns is remembered by its name", () => {
    const rule = { ...TOUCH, rules: [{ toolName: "mcp__a__b" }] };
    const [session, always, ...others] = listGrants(
      readSuggestions([rule]),
      { tool: "mcp__a__b", input: {} },
      FILES,
    );
    expect(session?.choice).toEqual({ decision: "acceptForSession", remembers: ["allow mcp__a__b"] });
    expect(always?.choice.option).toBeUndefined();
    expect(others).toEqual([]);
  });

  test("options with the same name are numbered, and their names suit a command line", () => {
    const other = { ...DIRECTORY, directories: ["/e"] };
    const odd = { ...MODE, mode: "a b\n$(c)" };
    const options = choicesOf(FILES, DIRECTORY, other, odd).map(({ option }) => option);
    expect(options).toEqual(["directories", "directories-2", "mode-a_b___c_"]);
  });
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
    expect(always).toMatchObject({
      decision: "acceptAlways",
      remembers: session?.remembers,
      writes: [{ path: "/l.json", content }],
    });
  });

  test("only the file of the suggestion that is chosen", () => {
    const user = rules("addRules", "allow", "userSettings", "a");
    const choices = choicesOf(FILES, user, rules("addRules", "allow", "projectSettings", "b"));
    const always = choices.filter(({ decision }) => decision === "acceptAlways");
    expect(always.map(({ writes }) => writes)).toEqual([
      [{ path: "/u.json", content: "permissions.allow += Bash(a)" }],
      [{ path: "/p.json", content: "permissions.allow += Bash(b)" }],
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
