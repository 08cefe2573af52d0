// Answers a request of a child. Whether the caller may is decided by its rights.
import type * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { INPUTS } from "./inputs.ts";
import type { ToolContext } from "./types.ts";

type Input = z.infer<typeof INPUTS.answer>;

export async function answerRequest(input: Input, { manager }: ToolContext): Promise<object> {
  const { request_id } = input;
  const answer = toAnswer(input);
  const row = await manager.request(undefined, request_id);
  if (row === undefined) throw new CodedError("request_unknown", `no pending request ${request_id}`);
  const { session_id, shown_hash } = row;
  const responded = await manager.respond({ session_id, request_id, answer, shown_hash, source: "api" });
  const { request, repeated, notice } = responded;
  return { session_id, status: request.status, repeated, ...defined({ notice }) };
}

function toAnswer({ decision, option, message, answers }: Input): Answer {
  if (answers !== undefined && decision === undefined) return { answers };
  if (decision === undefined || answers !== undefined)
    throw new CodedError("invalid_message", "expected either decision or answers");
  return { decision, ...defined({ option, message }) };
}
