// The states of a request and the transitions between them, as pure functions over rows. ledger.ts stores, shows and
// dispatches.
import { createHash } from "node:crypto";
import type { Ask } from "../../backends/types.ts";
import { CodedError } from "../../base/coded-error.ts";
import { makeId } from "../../base/id.ts";
import { defined } from "../../base/values.ts";
import { toDeliverable } from "../../protocol/deliverable.ts";
import {
  type Answer,
  type AnsweredBy,
  type Choice,
  type Decision,
  type Question,
  REQUEST_TYPES,
  type RequestPayload,
  type RequestRow,
  type RequestStatus,
  type ResolutionSource,
} from "../../protocol/requests.ts";

export interface Asked {
  request_id: string;
  session_id: string;
  backend: string;
  generation: string;
  /** Our turn id. Absent if no turn is running. */
  turn_id?: string;
  nowMs: number;
  /** Absent or 0: waits forever. */
  expiresInMs?: number;
}

export function createPendingRow(ask: Ask, asked: Asked): RequestRow {
  const { native_id: native_request_id, payload, ...where } = ask;
  const { nowMs, expiresInMs = 0, ...ids } = asked;
  return {
    ...ids,
    ...where,
    native_request_id,
    status: "pending",
    payload,
    shown_hash: hashPayload(payload),
    requested_at_ms: nowMs,
    ...(expiresInMs === 0 ? {} : { expires_at_ms: nowMs + expiresInMs }),
  };
}

/** Hash of the JSON text, which does not change in the store. */
export function hashPayload(payload: RequestPayload): string {
  return createHash("sha256").update(JSON.stringify(payload)).digest("hex");
}

export function resolve(
  row: RequestRow,
  answer: Answer,
  by: { source: ResolutionSource; answered_by?: AnsweredBy; rule_id?: string },
  nowMs: number,
): RequestRow {
  const change = {
    status: "resolved",
    answer,
    resolved_at_ms: nowMs,
    resolution_source: by.source,
    ...defined({ answered_by: by.answered_by, rule_id: by.rule_id }),
  } as const;
  return step(row, ["pending"], change); // mutation: only-pending-is-resolved
}

/** The time limit has passed. The policy's answer is stored with the request and dispatched from there. */
export function expire(row: RequestRow): RequestRow {
  return step(row, ["pending"], {
    status: "expired",
    answer: makePolicyAnswer(row),
    answered_by: { actor: "daemon", via: "expiry" },
    error_code: "request_expired",
    error_message: "not answered in time",
  });
}

/** The agent has the answer. An expired request counts as resolved from here on. */
export function markDispatched(row: RequestRow, nowMs: number): RequestRow {
  const byPolicy =
    row.status === "expired"
      ? ({ status: "resolved", resolved_at_ms: nowMs, resolution_source: "policy" } as const)
      : {};
  return withoutSecrets(step(row, ["resolved", "expired"], { ...byPolicy, dispatched_at_ms: nowMs })); // mutation: secret-leaves-the-store
}

export function withdraw(row: RequestRow, message: string): RequestRow {
  return withoutSecrets(
    step(row, ["pending", "resolved", "expired"], {
      status: "withdrawn",
      error_code: "request_withdrawn",
      error_message: message,
    }),
  );
}

/** `error_code`: server_restarted (the daemon), agent_gone (the agent), request_changed. */
export function orphan(row: RequestRow, error_code: string, message: string): RequestRow {
  const doubt = row.answer === undefined ? "" : "; it is not known whether the answer reached it";
  return withoutSecrets(
    step(row, ["pending", "resolved", "expired"], {
      status: "orphaned",
      error_code,
      error_message: `${message}${doubt}`,
    }),
  );
}

/** For the audit: a request that was declined without being stored or shown. */
export function createRefusedRow(
  ask: Pick<Ask, "native_id" | "request_type" | "payload">,
  from: Pick<RequestRow, "session_id" | "backend" | "generation">,
): RequestRow & { answer: Answer } {
  const row = createPendingRow(ask, { ...from, request_id: makeId("req"), nowMs: Date.now() });
  const by = { resolution_source: "policy", answered_by: { actor: "daemon", via: "policy" } } as const;
  return { ...row, ...by, answer: makePolicyAnswer(ask) };
}

/** The policy's answer. */
export function makePolicyAnswer(row: Pick<RequestRow, "request_type">): Answer {
  return REQUEST_TYPES[row.request_type] === "input" ? { answers: {} } : { decision: "decline" };
}

/** The part of the answer that is sent to the agent. Throws `invalid_answer` if the request does not offer it. */
export function checkAnswer({ payload, request_type }: RequestRow, given: Answer): Answer {
  const answer = toDeliverable(payload, given);
  if ("answers" in answer) {
    if (REQUEST_TYPES[request_type] !== "input") {
      throw invalid(`a ${request_type} request needs a decision: ${describeOffered(payload)}`);
    }
    for (const [id, text] of Object.entries(answer.answers)) checkOne(payload.questions ?? [], id, text);
    return answer;
  }
  const { decision } = answer;
  const choice = findChoice(payload, decision, answer.option);
  if (REQUEST_TYPES[request_type] === "input" && decision !== "decline" && decision !== "cancel") {
    throw invalid(`a ${request_type} request needs answers, or a refusal (decline, cancel)`);
  }
  for (const extra of ["message", "updated_input"] as const) {
    if (answer[extra] !== undefined && !choice.takes?.includes(extra)) {
      throw invalid(`/answer/${extra}: not accepted by this agent with "${decision}"`);
    }
  }
  return answer;
}

function findChoice({ choices }: RequestPayload, decision: Decision, option: string | undefined): Choice {
  const offers = choices.filter((candidate) => candidate.decision === decision);
  if (offers.length === 0)
    throw invalid(`/answer/decision: "${decision}" is not offered; ${describeOffered({ choices })}`);
  const choice = offers.find((candidate) => candidate.option === option);
  if (choice !== undefined) return choice;
  const options = offers.flatMap((candidate) => candidate.option ?? []).join(", ") || "none";
  if (option === undefined)
    throw invalid(`/answer/option: "${decision}" needs one of its options: ${options}`);
  throw invalid(`/answer/option: "${option}" is not offered with "${decision}"; offered: ${options}`);
}

function checkOne(questions: readonly Question[], id: string, text: string | string[]): void {
  const at = `/answer/answers/${id}`;
  const question = questions.find((candidate) => candidate.id === id);
  if (question === undefined) {
    throw invalid(`${at}: unknown question; expected: ${questions.map((known) => known.id).join(", ")}`);
  }
  const chosen = typeof text === "string" ? [text] : text;
  if (chosen.length > 1 && question.multi_select !== true) throw invalid(`${at}: accepts one answer`);
  if (question.options === undefined || question.allows_other === true) return;
  const labels = question.options.map(({ label }) => label);
  const other = chosen.find((one) => !labels.includes(one));
  if (other !== undefined) throw invalid(`${at}: "${other}" is not offered; offered: ${labels.join(", ")}`);
}

/** Secrets are for the agent only: not in frames, not in lists, and not in the store once they are dispatched. */
export function withoutSecrets(row: RequestRow): RequestRow {
  const { answer, payload } = row;
  const secret = payload.questions?.filter((question) => question.is_secret).map(({ id }) => id) ?? [];
  if (secret.length === 0 || answer === undefined || !("answers" in answer)) return row;
  const answers = Object.fromEntries(
    Object.entries(answer.answers).map(([id, text]) => [id, secret.includes(id) ? "[secret]" : text]),
  );
  return { ...row, answer: { answers } };
}

function step(row: RequestRow, from: readonly RequestStatus[], change: Partial<RequestRow>): RequestRow {
  if (!from.includes(row.status) || row.dispatched_at_ms !== undefined) {
    throw new Error(
      `request ${row.request_id} is ${row.status} and cannot become ${change.status ?? "dispatched"}`,
    );
  }
  return { ...withoutMark(row), ...change };
}

/** The row once policy has decided: it may be shown. */
export function withoutMark({ undecided: _decided, ...row }: RequestRow): RequestRow {
  return row;
}

/** The end of a request whose answer the agent did not take. */
export function toUndelivered(
  row: RequestRow,
  outcome: boolean | "unreachable",
  gone: { code: string; message: string } | undefined,
): RequestRow {
  if (outcome === true)
    return orphan(row, "request_changed", "the stored request differs from what was shown");
  if (gone !== undefined) return orphan(row, gone.code, gone.message);
  if (outcome === "unreachable") return orphan(row, "agent_gone", "the agent could not be reached");
  return withdraw(row, "the agent withdrew it first");
}

function describeOffered({ choices }: Pick<RequestPayload, "choices">): string {
  return `offered: ${[...new Set(choices.map(({ decision }) => decision))].join(", ")}`;
}

function invalid(message: string): CodedError {
  return new CodedError("invalid_answer", message);
}
