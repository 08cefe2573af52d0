// delegate_agent: another agent does a task in a session of its own and reports back (§7). Whom it can name is in its
// schema; what is allowed is decided by the plan, the gate and the sub-agent's own calls.
import * as z from "zod";
import type { AgentDefinition } from "../agents/types.ts";
import { oneLine } from "../context/one-line.ts";
import { defineTool } from "../tools/define.ts";
import { type ToolDefinition, ToolError } from "../tools/types.ts";
import { DELEGATE_TOOL, type Delegator } from "./types.ts";

const TITLE_TASK_CHARS = 100;
const MAX_TEXT_CHARS = 20_000;
const MAX_ITEM_CHARS = 1000;
const MAX_ITEMS = 50;

const DESCRIPTION = [
  "Gives a task to another agent, waits until it is done, and returns its short report.",
  "The sub-agent does not see this conversation: it gets the current request of the user and what you write here, and it remembers its own earlier tasks of this session.",
  "Delegate what is self-contained and fits what the agent is for; do small things yourself.",
  "Say what is wanted, what is known already, where to look, and what a good result is.",
  "Its report is a claim: check what matters before you rely on it.",
].join(" ");

/** `callables`: at least one. */
export function createDelegateTool(callables: readonly AgentDefinition[]): ToolDefinition {
  return defineTool({
    name: DELEGATE_TOOL,
    description: DESCRIPTION,
    input: inputFor(callables.map(({ name }) => name)),
    metadata: { sideEffect: "external" },
    async plan(input, context) {
      const planned = await delegatorIn(context).plan(input, { callId: context.callId });
      const { agent, provider, digest } = planned;
      const target = { kind: "agent", agent: agent.name, provider: provider.key } as const;
      return {
        title: `${DELEGATE_TOOL}: ${agent.name}: ${oneLine(input.task, TITLE_TASK_CHARS)}`,
        targets: [digest === undefined ? target : { ...target, digest }],
        invocation: planned,
      };
    },
    async execute(input, { invocation }, context) {
      if (invocation === undefined) throw unavailable();
      const { callId, signal } = context;
      return delegatorIn(context).run(input, invocation, { callId, signal });
    },
  });
}

function inputFor(names: readonly string[]) {
  const text = z.string().max(MAX_TEXT_CHARS);
  const list = z.array(z.string().min(1).max(MAX_ITEM_CHARS)).max(MAX_ITEMS);
  return z.strictObject({
    agent: z.enum(names).describe("Who does it: one of the available sub agents."),
    task: text
      .min(1)
      // Not as a pattern: that would go into the schema, and not every vendor takes one.
      .refine((task) => task.trim() !== "", "must not be empty: say what the agent is to do")
      .describe("What to do, complete in itself: the agent knows nothing that is not said here."),
    context: text
      .optional()
      .describe("What it should know: findings so far, decisions, why it matters. A summary, not a copy."),
    contextRefs: list
      .optional()
      .describe("Where to find more: references of earlier results, issues, places in documents."),
    relevantFiles: list
      .optional()
      .describe("Paths to look at first, relative to the working directory. Do not paste their contents."),
    constraints: list.optional().describe("What it must keep to, one sentence each."),
    expectedOutput: text.optional().describe("What its report should contain."),
    maxTurns: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe("Fewer model requests than it is allowed by default. More are never granted."),
    returnMode: z
      .enum(["brief", "normal"])
      .optional()
      .describe('"brief": only the outcome; "normal" (default): a report.'),
  });
}

function delegatorIn({ delegator }: { delegator?: Delegator }): Delegator {
  if (delegator === undefined) throw unavailable();
  return delegator;
}

function unavailable(): ToolError {
  return new ToolError("delegation_not_allowed", "This agent may not delegate here: do the task yourself.");
}
