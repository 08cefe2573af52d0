// The tools of the demo agent. None has side effects: the shell only pretends.
import * as z from "zod";
import { defineTool } from "../tools/define.ts";
import type { ToolDefinition } from "../tools/types.ts";

export const CLOCK = "demo_clock";
export const SHELL = "demo_shell";
export const QUESTION = "demo_question";

const COLORS = ["Red", "Blue"];

export function createDemoTools(): ToolDefinition[] {
  return [createClock(), createShell(), createQuestion()];
}

function createClock(): ToolDefinition {
  return defineTool({
    name: CLOCK,
    description: "Returns the current time.",
    input: z.strictObject({ zone: z.literal("UTC") }),
    metadata: { sideEffect: "none", defaultDecision: "allow" },
    plan: () => Promise.resolve({ title: CLOCK, targets: [{ kind: "other", key: CLOCK }] }),
    execute: () => Promise.resolve({ ok: true, content: new Date().toISOString() }),
  });
}

function createShell(): ToolDefinition {
  return defineTool({
    name: SHELL,
    description: "Pretends to run a command.",
    input: z.strictObject({ command: z.string() }),
    metadata: { sideEffect: "process", defaultDecision: "ask" },
    plan: ({ command }, { workspace }) =>
      Promise.resolve({
        title: `${SHELL}: ${command}`,
        command,
        cwd: workspace.root,
        targets: [{ kind: "command", command, cwd: workspace.root }],
      }),
    execute: () =>
      Promise.resolve({ ok: true, content: "pretended to run", metadata: { sandbox: "pretended" } }),
  });
}

function createQuestion(): ToolDefinition {
  return defineTool({
    name: QUESTION,
    description: "Asks the user a question.",
    input: z.strictObject({}),
    metadata: { sideEffect: "none", defaultDecision: "allow" },
    plan: () => Promise.resolve({ title: QUESTION, targets: [{ kind: "other", key: QUESTION }] }),
    execute: async (_, __, context) => {
      const answer = await context.question?.({ text: "Which color do you like?", options: COLORS });
      return answer === undefined ? { ok: false, content: "no answer" } : { ok: true, content: answer };
    },
  });
}
