// The tools of the demo agent. None of them touches anything: the shell pretends.
import * as z from "zod";
import { defineTool } from "../tools/define.ts";
import type { ToolDefinition } from "../tools/types.ts";

export const CLOCK = "demo_clock";
export const SHELL = "demo_shell";
export const QUESTION = "demo_question";

const COLORS = ["Red", "Blue"];

export function demoTools(): ToolDefinition[] {
  return [clock(), shell(), question()];
}

function clock(): ToolDefinition {
  return defineTool({
    name: CLOCK,
    description: "Tells the time.",
    input: z.strictObject({ zone: z.literal("UTC") }),
    metadata: { sideEffect: "none", defaultDecision: "allow" },
    plan: () => Promise.resolve({ title: CLOCK, targets: [{ kind: "other", key: CLOCK }] }),
    execute: () => Promise.resolve({ ok: true, content: new Date().toISOString() }),
  });
}

function shell(): ToolDefinition {
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

function question(): ToolDefinition {
  return defineTool({
    name: QUESTION,
    description: "Asks the person.",
    input: z.strictObject({}),
    metadata: { sideEffect: "none", defaultDecision: "allow" },
    plan: () => Promise.resolve({ title: QUESTION, targets: [{ kind: "other", key: QUESTION }] }),
    execute: async (_, __, context) => {
      const answer = await context.question?.({ text: "Which color do you like?", options: COLORS });
      return answer === undefined ? { ok: false, content: "nobody answered" } : { ok: true, content: answer };
    },
  });
}
