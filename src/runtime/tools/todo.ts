// todo: the agent's list of steps for the current task, shown to the user as it changes.
import * as z from "zod";
import { defineTool } from "./define.ts";

const MAX_STEPS = 50;
const MAX_TEXT = 200;

export const STEP_STATUSES = ["pending", "in_progress", "completed"] as const;

export interface PlanStep {
  text: string;
  status: (typeof STEP_STATUSES)[number];
}

const Input = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        text: z
          .string()
          .max(MAX_TEXT)
          .regex(/^[^\n\r]*\S[^\n\r]*$/, "must be one line with text"),
        status: z.enum(STEP_STATUSES),
      }),
    )
    .max(MAX_STEPS)
    .describe("The whole list, in order; it replaces the last one. Empty: no list."),
});

export const todoTool = defineTool({
  name: "todo",
  description:
    "Sets the list of steps that the user sees. Use it for tasks of three or more steps: one step in_progress at a time, " +
    "completed as soon as it is done.",
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  plan: () => Promise.resolve({ title: "todo", targets: [{ kind: "other", key: "todo" }] }),
  execute({ steps }, _, context) {
    context.showPlan(steps);
    return Promise.resolve({ ok: true, content: describeSteps(steps) });
  },
});

function describeSteps(steps: readonly PlanStep[]): string {
  if (steps.length === 0) return "the list is empty";
  const count = (status: PlanStep["status"]) => steps.filter((step) => step.status === status).length;
  return STEP_STATUSES.map((status) => `${count(status)} ${status}`).join(", ");
}
