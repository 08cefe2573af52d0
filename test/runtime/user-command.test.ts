import { expect, test } from "vitest";
import { describeUserCommand } from "../../src/runtime/user-command.ts";
import { Stage } from "./stage.ts";

const order = { command: "env", signal: new AbortController().signal };
const result = { output: "TOKEN=1", end: "exit code 0", isGood: true };

test("hooks may change the output that the model reads, or withhold it, as they do for bash", async () => {
  const masked = new Stage({
    hooks: ({ event, toolName }) =>
      event === "PostToolUse" && toolName === "bash" ? { patch: { content: "TOKEN=***" } } : {},
  });
  expect(await describeUserCommand(masked.services, order, result)).toContain(
    "$ env\nTOKEN=***\n[exit code 0]",
  );
  const blocked = new Stage({ hooks: () => ({ blocked: true, reason: "secret" }) });
  const text = await describeUserCommand(blocked.services, order, result);
  expect(text).toContain("[a hook withheld the output: secret]");
  expect(text).not.toContain("TOKEN");
});
