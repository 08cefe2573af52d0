// What claude asks us. The seam for the approvals ledger (issue 3): until it is there, every permission is
// denied with a reason, and claude goes on.
import type { ControlAnswer, ControlRequest } from "./control.ts";

export type OnRequest = (request: ControlRequest) => Promise<ControlAnswer>;

export const denyRequests: OnRequest = async (request) => {
  if (request.subtype === "can_use_tool") {
    return { ok: true, response: { behavior: "deny", message: "approvals are not available yet" } };
  }
  return { ok: false, error: `unsupported control request: ${request.subtype}` };
};
