// Which part of an answer reaches the agent. Apart from the schemas, so that programs can use it without loading them.
import type { Answer, Decision, RequestPayload } from "./requests.ts";

const REFUSALS: ReadonlySet<Decision> = new Set(["decline", "cancel"]);

/** The part of an answer that the agent can be given: a refusal loses its reason where the choice takes none. */
export function deliverable({ choices }: Pick<RequestPayload, "choices">, answer: Answer): Answer {
  if (!("message" in answer) || !REFUSALS.has(answer.decision)) return answer;
  const { decision, option } = answer;
  const choice = choices.find((one) => one.decision === decision && one.option === option);
  if (choice === undefined || choice.takes?.includes("message")) return answer;
  const { message: _unread, ...rest } = answer;
  return rest;
}
