// What claude asks us. Without `--permission-prompt-tool` it asks for no permission, so whatever comes is something
// we do not know: it gets an error answer, because claude waits for one.
import type { ControlAnswer, ControlRequest } from "./control.ts";

export type OnRequest = (request: ControlRequest) => Promise<ControlAnswer>;

export const refuseRequests: OnRequest = async (request) => ({
  ok: false,
  error: `unsupported control request: ${request.subtype}`,
});
