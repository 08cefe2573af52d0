// The outcome of a request in one sentence.
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { describeAnswerer } from "../../../src/client/view/answerer.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import type { Decision } from "../../../src/protocol/requests.ts";

const DECIDED: Readonly<Record<Decision, string>> = {
  accept: "Accepted",
  acceptForSession: "Accepted for the session",
  acceptAlways: "Always accepted",
  decline: "Declined",
  cancel: "Declined and stopped the turn",
};

export function describeOutcome(request: RequestRow): string {
  switch (request.status) {
    case "pending":
      return "Pending";
    case "withdrawn":
      return "Withdrawn by the agent";
    case "orphaned":
      return "No longer needed: the agent has ended";
    case "expired":
      return "Expired without an answer";
    case "resolved":
      return describeResolved(request);
  }
}

function describeResolved(request: RequestRow): string {
  const { answer } = request;
  const who = describeAnswerer(request);
  const by = who === undefined ? "" : ` ${who}`;
  if (answer === undefined) return `Answered${by}`;
  if ("answers" in answer) return `Answered${by}`;
  const reason =
    answer.message === undefined || answer.message === "" ? "" : `: “${sanitizeLine(answer.message)}”`;
  return `${DECIDED[answer.decision]}${by}${reason}`;
}
