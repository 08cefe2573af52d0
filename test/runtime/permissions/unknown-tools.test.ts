import { expect, test } from "vitest";
import { unknownTools } from "../../../src/runtime/permissions/unknown-tools.ts";

const TOOLS = ["read_file", "bash", "grep"];
const told = (tool: string) => unknownTools([{ tool, decision: "deny" }], TOOLS, "permissions");

test.each([
  ["Bash", 'did you mean "bash"?'],
  ["demian.bahs", 'did you mean "bash"?'],
  ["*.shell", "there are read_file, bash, grep"],
])("a rule for %s is told: %s", (tool, hint) => {
  expect(told(tool)).toEqual([expect.stringContaining(hint)]);
});

test.each(["bash", "demian.bash", "*.bash", "*", "claudecode.Bash", "claudecode.*", "delegate_agent"])(
  "a rule for %s is not",
  (tool) => {
    expect(told(tool)).toEqual([]);
  },
);

test("each name is told once", () => {
  const rule = { tool: "Bash", decision: "deny" } as const;
  expect(unknownTools([rule, rule], TOOLS, "permissions")).toHaveLength(1);
});
