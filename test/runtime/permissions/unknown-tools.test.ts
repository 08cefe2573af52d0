import { expect, test } from "vitest";
import { findUnknownTools } from "../../../src/runtime/permissions/unknown-tools.ts";

const TOOLS = ["read_file", "bash", "grep"];
const told = (tool: string) => findUnknownTools([{ tool, decision: "deny" }], TOOLS, "permissions");

test.each([
  ["Bash", 'did you mean "bash"?'],
  ["demian.bahs", 'did you mean "bash"?'],
  ["*.shell", "known tools: read_file, bash, grep"],
  ["WebFetch", `Claude Code's tool is "claudecode.WebFetch".`],
  ["Bash", `Claude Code's tool is "claudecode.Bash".`],
])("a rule for %s is reported: %s", (tool, hint) => {
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
  expect(findUnknownTools(rules, [...TOOLS, "lsp_references"], "permissions")).toEqual([]);
  expect(findUnknownTools(rules, TOOLS, "permissions")).toHaveLength(1);
});

test("each name is reported once", () => {
  const rule = { tool: "Bash", decision: "deny" } as const;
  expect(findUnknownTools([rule, rule], TOOLS, "permissions")).toHaveLength(1);
});
