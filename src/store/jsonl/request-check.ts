// Whether a value from a file is a row of the ledger. By hand, because zod costs the store thread 70 ms and 11 MB; a
// test holds it against the schema of protocol/requests.ts.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { RequestRow, RequestStatus, RequestType } from "../../protocol/requests.ts";

const STATUSES: Record<RequestStatus, true> = {
  pending: true,
  resolved: true,
  expired: true,
  orphaned: true,
  withdrawn: true,
};
const TYPES: Record<RequestType, true> = {
  command: true,
  file_change: true,
  tool: true,
  permissions: true,
  plan: true,
  user_input: true,
  elicitation: true,
};

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isTime: Check = (value) => Number.isSafeInteger(value);
const isIn =
  (names: object): Check =>
  (value) =>
    typeof value === "string" && Object.hasOwn(names, value);

const REQUIRED: Record<string, Check> = {
  request_id: isText,
  session_id: isText,
  backend: isText,
  request_type: isIn(TYPES),
  status: isIn(STATUSES),
  payload: isPayload,
  shown_hash: isText,
  requested_at_ms: isTime,
  generation: isText,
};
const OPTIONAL: Record<string, Check> = {
  thread_id: isText,
  turn_id: isText,
  native_turn_id: isText,
  item_id: isText,
  path: (value) => Array.isArray(value) && value.every(isText),
  expires_at_ms: isTime,
  answer: isAnswer,
  resolved_at_ms: isTime,
  resolution_source: isText,
  dispatched_at_ms: isTime,
  error_code: isText,
  error_message: isText,
};

export function isRequestRow(value: unknown): value is RequestRow {
  if (!isObject(value)) return false;
  if (!Object.entries(REQUIRED).every(([field, isGood]) => isGood(value[field]))) return false;
  return Object.entries(OPTIONAL).every(([field, isGood]) => {
    return value[field] === undefined || isGood(value[field]);
  });
}

function isPayload(value: unknown): boolean {
  if (!isObject(value) || !isText(value["title"]) || !isListOf("decision", value["choices"])) return false;
  return value["questions"] === undefined || isListOf("id", value["questions"]);
}

function isAnswer(value: unknown): boolean {
  return isObject(value) && (isText(value["decision"]) || isObject(value["answers"]));
}

/** Objects that each have this text. */
function isListOf(field: string, value: unknown): boolean {
  return Array.isArray(value) && value.every((one: JsonObject) => isObject(one) && isText(one[field]));
}
