// delegate_agent: another agent does a task in its own session and reports back. The schema lists the agents; the plan,
// the permission gate and the sub-agent's own calls decide what is allowed.
import * as z from "zod";
import type { AgentDefinition } from "../agents/types.ts";
import { toOneLine } from "../context/one-line.ts";
import { defineTool } from "../tools/define.ts";
import { type ToolDefinition, ToolError } from "../tools/types.ts";
import { DELEGATE_TOOL, type Delegator } from "./types.ts";

const TITLE_TASK_CHARS = 100;
const MAX_TEXT_CHARS = 20_000;
const MAX_ITEM_CHARS = 1000;
const MAX_ITEMS = 50;

const DESCRIPTION = [
  "Gives a task to another agent, waits until it finishes, and returns its short report.",
  "The sub-agent does not see this conversation: it gets the user's current request and what you write here, and it remembers its own earlier tasks in this session.",
  "Delegate self-contained tasks that fit the agent's purpose; do small things yourself.",
  "State the goal, what is already known, where to look, and what a good result looks like.",
  "The report is a claim: verify what matters before you rely on it.",
].join(" ");

/** `callables`: at least one. */
export function createDelegateTool(callables: readonly AgentDefinition[]): ToolDefinition {
  return defineTool({
    name: DELEGATE_TOOL,
    description: DESCRIPTION,
    input: createInputSchema(callables.map(({ name }) => name)),
    metadata: { sideEffect: "external" },
    async plan(input, context) {
      const planned = await requireDelegator(context).plan(input, { callId: context.callId });
      const { agent, provider, digest } = planned;
      const target = { kind: "agent", agent: agent.name, provider: provider.key } as const;
      return {
        title: `${DELEGATE_TOOL}: ${agent.name}: ${toOneLine(input.task, TITLE_TASK_CHARS)}`,
        targets: [digest === undefined ? target : { ...target, digest }],
        invocation: planned,
      };
    },
    async execute(input, { invocation }, context) {
      if (invocation === undefined) throw unavailableError();
      const { callId, signal } = context;
      return requireDelegator(context).run(input, invocation, { callId, signal });
    },
  });
}

function createInputSchema(names: readonly string[]) {
  const text = z.string().max(MAX_TEXT_CHARS);
  const list = z.array(z.string().min(1).max(MAX_ITEM_CHARS)).max(MAX_ITEMS);
  return z.strictObject({
    agent: z.enum(names).describe("The agent to use: one of the available sub agents."),
    task: text
      .min(1)
      // Not as a pattern: that would go into the schema, and not every vendor takes one.
      .refine((task) => task.trim() !== "", "must not be empty: describe the task")
      .describe("The task, complete in itself: the agent knows only what is written here."),
    context: text
      .optional()
      .describe("Background: findings so far, decisions, why it matters. Summarize; do not copy."),
    contextRefs: list
      .optional()
      .describe("Where to find more: references to earlier results, issues, sections of documents."),
    relevantFiles: list
      .optional()
      .describe("Paths to read first, relative to the working directory. Do not paste their contents."),
    constraints: list.optional().describe("Constraints to respect, one sentence each."),
    expectedOutput: text.optional().describe("What the report should contain."),
    maxTurns: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe("Limit on model requests. Can only lower the default."),
    returnMode: z
      .enum(["brief", "normal"])
      .optional()
      .describe('"brief": only the outcome; "normal" (default): a full report.'),
  });
}

function requireDelegator({ delegator }: { delegator?: Delegator }): Delegator {
  if (delegator === undefined) throw unavailableError();
  return delegator;
}

function unavailableError(): ToolError {
  return new ToolError("delegation_not_allowed", "This agent may not delegate here: do the task yourself.");
}
