// Which part of an answer reaches the agent. Separate from the schemas, so that programs can use it without loading them.
import type { Answer, Decision, RequestPayload } from "./requests.ts";

const REFUSALS: ReadonlySet<Decision> = new Set(["decline", "cancel"]);

/** The part of an answer that the agent accepts: a refusal loses its reason if the choice takes none. */
export function toDeliverable({ choices }: Pick<RequestPayload, "choices">, answer: Answer): Answer {
  if (!("message" in answer) || !REFUSALS.has(answer.decision)) return answer;
  const { decision, option } = answer;
  const choice = choices.find((one) => one.decision === decision && one.option === option);
  if (choice === undefined || choice.takes?.includes("message")) return answer;
  const { message: _unread, ...rest } = answer;
  return rest;
}
