// The built-in tools as described to the model.
import { expect, test } from "vitest";
import { createBuiltinTools } from "../../../src/runtime/tools/builtin.ts";

test("there are eleven, files first", () => {
  const names = [
    "read_file",
    "write_file",
    "edit_file",
    "apply_patch",
    "bash",
    "grep",
    "glob",
    "web_fetch",
    "todo",
    "tail_job",
    "kill_job",
  ];
  expect(createBuiltinTools().map(({ name }) => name)).toEqual(names);
});

test.each(createBuiltinTools())(
  "$name has a plain schema with every field described",
  ({ inputSchema, description }) => {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(inputSchema).not.toHaveProperty("$schema");
    const fields = Object.values(inputSchema["properties"] as Record<string, { description?: string }>);
    expect(fields.every((field) => (field.description ?? "").length > 10)).toBe(true);
    expect(description.length).toBeGreaterThan(40);
  },
);

test("what only looks is allowed by default, what changes something asks", () => {
  const decisions = createBuiltinTools().map(
    ({ metadata }) => `${metadata.sideEffect} ${metadata.defaultDecision}`,
  );
  const [look, change] = ["none allow", "workspace ask"];
  expect(decisions).toEqual([
    look,
    change,
    change,
    change,
    "process ask",
    look,
    look,
    "network ask",
    look,
    look,
    "process ask",
  ]);
});
