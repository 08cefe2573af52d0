// Requests that the model's agents make, and the possible answers.
import type { Ask } from "../../src/backends/types.ts";
import type { Answer } from "../../src/protocol/requests.ts";
import { isInput, type Kind, RULED } from "./model.ts";

export const SECRET = "hunter2";

/** The same agent-side id gives the same request, as when an agent asks again after a restart. */
export function askFor(kind: Kind, native_id: string): Ask {
  const choices = [
    { decision: "accept" as const },
    { decision: "decline" as const, takes: ["message" as const] },
    { decision: "cancel" as const },
  ];
  if (!isInput(kind)) {
    const command = (RULED as readonly Kind[]).includes(kind) ? `${kind} ${native_id}` : `make ${native_id}`;
    const path = kind === "sub-agent" ? { path: ["root", "helper"] } : {};
    const payload = { title: `run ${native_id}`, command, choices };
    return { native_id, request_type: kind === "sub-agent" ? "tool" : "command", ...path, payload };
  }
  const question = { id: "q", question: "which?", allows_other: true };
  const questions = [kind === "secret" ? { ...question, is_secret: true } : question];
  return {
    native_id,
    request_type: "user_input",
    payload: { title: `ask ${native_id}`, questions, choices },
  };
}

export const REPLIES = ["yes", "no", "wrong type", "not offered", "unknown question", "wrong hash"] as const;
export type Reply = (typeof REPLIES)[number];

/** Whether the ledger accepts it does not depend on the request's state. */
export function replyTo(kind: Kind, reply: Reply): { answer: Answer; refusedAs?: string } {
  const yes: Answer = isInput(kind)
    ? { answers: { q: kind === "secret" ? SECRET : "this" } }
    : { decision: "accept" };
  switch (reply) {
    case "yes":
      return { answer: yes };
    case "no":
      return { answer: { decision: "decline", message: "not now" } };
    case "wrong type":
      return {
        answer: isInput(kind) ? { decision: "accept" } : { answers: {} },
        refusedAs: "invalid_answer",
      };
    case "not offered":
      return { answer: { decision: "acceptAlways" }, refusedAs: "invalid_answer" };
    case "unknown question":
      return { answer: { answers: { other: "x" } }, refusedAs: "invalid_answer" };
    case "wrong hash":
      return { answer: yes, refusedAs: "request_changed" };
  }
}
