// The agent's commands in the composer.
import { expect, test } from "vitest";
import { AgentCommands } from "../../web/src/session/commands.ts";

test("commands are read once for a while, per session, with what says most about them", async () => {
  let nowMs = 0;
  const asked: string[] = [];
  const commands = new AgentCommands(
    async (session_id) => {
      asked.push(session_id);
      return {
        commands: [
          { name: "review", description: "Review it", hint: "[file]" },
          { name: "go", hint: "where" },
          { name: "x" },
        ],
      };
    },
    () => nowMs,
  );
  expect(await commands.list("a")).toEqual([
    { name: "/review", summary: "Review it" },
    { name: "/go", summary: "where" },
    { name: "/x" },
  ]);
  await commands.list("a");
  expect(asked).toEqual(["a"]);
  nowMs = 31_000;
  await commands.list("a");
  await commands.list("b");
  expect(asked).toEqual(["a", "a", "b"]);
});

test("a failure is tried again", async () => {
  let isDown = true;
  const commands = new AgentCommands(async () => {
    if (isDown) throw new Error("away");
    return {};
  });
  await expect(commands.list("a")).rejects.toThrow("away");
  isDown = false;
  expect(await commands.list("a")).toEqual([]);
});
