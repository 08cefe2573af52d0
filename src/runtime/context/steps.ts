// Splits a history into steps that are kept or folded as a whole: a user message, or an answer with the results of its
// calls. Joined again, steps are always a valid history: no call without a result, no result without a call.
import { INTERRUPTED } from "../history.ts";
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "../messages.ts";

export type Step =
  | { kind: "user"; user: UserMessage }
  | { kind: "answer"; answer: AssistantMessage; results: readonly ToolMessage[] };

/** System messages are not part of the conversation and are dropped. */
export function toSteps(history: readonly Message[]): Step[] {
  const steps: Step[] = [];
  let results: ToolMessage[] = [];
  for (const message of history) {
    if (message.role === "tool") results.push(message);
    if (message.role !== "user" && message.role !== "assistant") continue;
    results = [];
    if (message.role === "user") steps.push({ kind: "user", user: message });
    else steps.push({ kind: "answer", answer: message, results });
  }
  return steps.map((step) => (step.kind === "user" ? step : { ...step, results: collectResults(step) }));
}

export function toMessages(steps: readonly Step[]): Message[] {
  return steps.flatMap((step): Message[] =>
    step.kind === "user" ? [step.user] : [step.answer, ...step.results],
  );
}

/** Where turns start: at each user message, and at the beginning. */
export function findTurnStarts(steps: readonly Step[]): number[] {
  return steps.flatMap((step, index) => (index === 0 || step.kind === "user" ? [index] : []));
}

/** One per call, in call order. */
function collectResults({
  answer,
  results,
}: {
  answer: AssistantMessage;
  results: readonly ToolMessage[];
}): ToolMessage[] {
  return (answer.toolCalls ?? []).map(
    ({ id, name }) =>
      results.find(({ toolCallId }) => toolCallId === id) ?? {
        role: "tool",
        toolCallId: id,
        name,
        content: INTERRUPTED,
        isError: true,
      },
  );
}
