import { expect, test } from "vitest";
import { unknownTools } from "../../../src/runtime/permissions/unknown-tools.ts";

const TOOLS = ["read_file", "bash", "grep"];
const told = (tool: string) => unknownTools([{ tool, decision: "deny" }], TOOLS, "permissions");

test.each([
  ["Bash", 'did you mean "bash"?'],
  ["demian.bahs", 'did you mean "bash"?'],
  ["*.shell", "there are read_file, bash, grep"],
  ["WebFetch", 'Of Claude Code it would be "claudecode.WebFetch".'],
  ["Bash", 'Of Claude Code it would be "claudecode.Bash".'],
])("a rule for %s is told: %s", (tool, hint) => {
  expect(told(tool)).toEqual([expect.stringContaining(hint)]);
});

const FITTING = ["bash", "demian.bash", "*.bash", "*", "delegate_agent", "demian.delegate_agent"];

test.each([...FITTING, "claudecode.Bash", "claudecode.*", "*.Bash", "ClaudeCode.Bash"])(
  "a rule for %s is not",
  (tool) => {
    expect(told(tool)).toEqual([]);
  },
);

test("a tool of a module is known like any other", () => {
  const rules = [{ tool: "lsp_references", decision: "ask" as const }];
  expect(unknownTools(rules, [...TOOLS, "lsp_references"], "permissions")).toEqual([]);
  expect(unknownTools(rules, TOOLS, "permissions")).toHaveLength(1);
});

test("each name is told once", () => {
  const rule = { tool: "Bash", decision: "deny" } as const;
  expect(unknownTools([rule, rule], TOOLS, "permissions")).toHaveLength(1);
});
