// The decision of an answer, in what was sent and in what is stored.
import type { Answer } from "../../src/protocol/requests.ts";

export function decisionOf(answer: Answer | undefined): string {
  return answer !== undefined && "decision" in answer ? answer.decision : "none";
}
