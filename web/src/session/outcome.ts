// What became of a request, in one sentence: who answered, and what. Pure.
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";
import type { Decision, ResolutionSource } from "../../../src/protocol/requests.ts";

const DECIDED: Readonly<Record<Decision, string>> = {
  accept: "Accepted",
  acceptForSession: "Accepted for the session",
  acceptAlways: "Accepted for always",
  decline: "Declined",
  cancel: "Declined, and the turn was stopped",
};

const BY: Readonly<Record<ResolutionSource, string>> = {
  tui: "in the terminal UI",
  web: "in the dashboard",
  sm: "with sm",
  blemeesctl: "with blemeesctl",
  socket: "by a program",
  http: "by a program",
  api: "by a program",
  policy: "by the daemon's rules",
};

export function outcomeOf(request: RequestRow): string {
  switch (request.status) {
    case "pending":
      return "Waits for an answer";
    case "withdrawn":
      return "Taken back by the agent";
    case "orphaned":
      return "Nobody waits for the answer any more: the agent is gone";
    case "expired":
      return "Nobody answered in time";
    case "resolved":
      return resolved(request);
  }
}

function resolved({ answer, resolution_source }: RequestRow): string {
  const by = resolution_source === undefined ? "" : ` ${BY[resolution_source]}`;
  if (answer === undefined) return `Answered${by}`;
  if ("answers" in answer) return `Answered${by}`;
  const reason =
    answer.message === undefined || answer.message === "" ? "" : `: “${sanitizeLine(answer.message)}”`;
  return `${DECIDED[answer.decision]}${by}${reason}`;
}
