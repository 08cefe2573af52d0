// How a turn can fail, in one table for all agents, and how the code is derived: from names that vendors and agents use, the
// HTTP status of the model's service, or the message text. Source of docs/errors.md. A turn whose agent died ends with
// `backend_crashed` (protocol/errors.ts).

/** `error.code` of an `agent.result` when the agent or its model failed. */
export const FAILURES = {
  auth_failed: "The agent is not logged in, or its key is refused. Log in with the agent's own program.",
  quota_exhausted:
    "The account has no credit left, or its usage limit is reached. Retrying soon will not help.",
  rate_limited:
    "The model's service received too many requests. Retry after `retry_after_ms`, or later if it is absent.",
  overloaded: "The model's service, or the model, is at capacity. Try again later, or use another model.",
  model_error: "The model's service failed. Try again.",
  network: "The model's service could not be reached.",
  stream_cut: "The connection to the model's service was cut during an answer. Try again.",
  context_exceeded: "The conversation is too long for the model. Compact it, or start a new session.",
  model_not_found: "The service does not have this model, or the account may not use it.",
  bad_request: "The service refused the request as invalid. Check the agent's settings.",
  refused: "The model, or a content filter, refused to answer this. Rephrase it.",
  agent_error: "Any other failure; the message is the agent's own.",
} as const;
export type FailureCode = keyof typeof FAILURES;

/** What is known about a failure. */
export interface Signs {
  /** Names used by vendor and agent, the most specific first; values that are not strings are ignored. */
  names?: readonly unknown[];
  /** The HTTP status of the model's service. */
  status?: number | undefined;
  words?: string | undefined;
}

/** Exact names first, then an unambiguous status, then the message text, then the rest. */
export function toFailureCode({ names = [], status = 0, words = "" }: Signs): FailureCode {
  const said = names.flatMap((name) => (typeof name === "string" ? [toName(name)] : []));
  const findName = (table: ReadonlyMap<string, FailureCode>) =>
    said.map((name) => table.get(name)).find(Boolean);
  const spoken = WORDS.find(([, pattern]) => pattern.test(words))?.[0];
  return findName(NAMES) ?? STATUSES.get(status) ?? spoken ?? findName(VAGUE_NAMES) ?? classifyStatus(status);
}

const WAIT =
  /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|s|sec|seconds?|m|min|minutes?|h|hours?)\b/i;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** How long to wait, if the text says so: "Please try again in 11.054s". */
export function parseRetryAfterMs(words: string): number | undefined {
  const [, amount, unit = ""] = WAIT.exec(words) ?? [];
  if (amount === undefined) return undefined;
  const factor = unit.toLowerCase() === "ms" ? 1 : UNIT_MS[unit.charAt(0).toLowerCase()];
  return factor === undefined ? undefined : Math.round(Number(amount) * factor);
}

function classifyStatus(status: number): FailureCode {
  if (status >= 500 && status < 600) return "model_error";
  return status >= 400 && status < 500 ? "bad_request" : "agent_error";
}

/** `contextWindowExceeded`, `RESOURCE_EXHAUSTED` → `context_window_exceeded`, `resource_exhausted`. */
function toName(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
}

const NAMES = toTable({
  auth_failed:
    "auth_failed auth authentication_failed authentication_error unauthorized unauthenticated permission_denied permission_error invalid_api_key missing_api_key missing_key api_key_invalid",
  quota_exhausted:
    "usage_limit_exceeded insufficient_quota billing_error billing_hard_limit_reached session_budget_exceeded",
  rate_limited:
    "rate_limit rate_limited rate_limit_exceeded rate_limit_error too_many_requests resource_exhausted",
  overloaded: "overloaded overloaded_error server_overloaded server_is_overloaded unavailable",
  context_exceeded: "context_window_exceeded context_length_exceeded context_too_long request_too_large",
  model_not_found: "model_not_found not_found_error not_found",
  refused: "refusal content_filter content_policy_violation cyber_policy",
});

/** Names that are less specific than a status or the message text. */
const VAGUE_NAMES = toTable({
  model_error: "server_error internal_server_error server internal",
  network:
    "network http_connection_failed response_stream_connection_failed response_too_many_failed_attempts",
  stream_cut: "response_stream_disconnected",
  bad_request: "bad_request invalid_request invalid_request_error invalid_argument invalid_prompt",
});

const STATUSES: ReadonlyMap<number, FailureCode> = new Map([
  [401, "auth_failed"],
  [402, "quota_exhausted"],
  [403, "auth_failed"],
  [404, "model_not_found"],
  [413, "context_exceeded"],
  [429, "rate_limited"],
  [503, "overloaded"],
  [529, "overloaded"],
]);

/** The first match wins. */
const WORDS: ReadonlyArray<readonly [FailureCode, RegExp]> = [
  [
    "context_exceeded",
    /context (length|window|size).{0,60}exceed|exceed.{0,60}\bcontext\b|ran out of room in the model's context|(prompt|input) is too long/i,
  ],
  [
    "auth_failed",
    /\b40[13]\b|unauthori[sz]ed|authenticat|auth required|not logged in|\bcodex login\b|openai_api_key|(invalid|missing|incorrect) api key|api key is missing|missing environment variable: \W?\w*(KEY|TOKEN)/i,
  ],
  ["quota_exhausted", /insufficient.quota|quota (was )?(exceeded|reached)|usage limit|credit balance/i],
  ["rate_limited", /\b429\b|rate.?limit|too many requests/i],
  ["overloaded", /\b5(03|29)\b|overloaded|at capacity/i],
  ["refused", /usage policy|content.(filter|policy)/i],
  [
    "model_not_found",
    /issue with the selected model|unknown model|\b(the|this|requested) model\b.{0,80}(not found|not exist|not supported)/i,
  ],
  [
    "stream_cut",
    /\bECONNRESET\b|stream disconnected|connection.?(was )?(reset|closed)|socket hang up|^terminated$/i,
  ],
  [
    "network",
    /\bECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|connection.?(was )?(refused|failed|error)|unable to connect|network error|fetch failed/i,
  ],
  ["model_error", /\b50[024]\b|internal server error|experiencing high demand/i],
  ["bad_request", /\b400\b/],
];

function toTable(names: Partial<Record<FailureCode, string>>): ReadonlyMap<string, FailureCode> {
  const entries = Object.entries(names) as [FailureCode, string][];
  return new Map(entries.flatMap(([code, list]) => list.split(" ").map((name) => [name, code] as const)));
}
