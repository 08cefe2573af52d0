// Reads errors of Codex's backend: its own codes first, then those that all vendors share.

import { isObject, type JsonObject, tryParseJson } from "../../../base/json.ts";
import { defined } from "../../../base/values.ts";
import { answerFailure, type Endpoint, redact, vendorFailure } from "../failure.ts";
import type { ProviderFailure } from "../types.ts";
import { findVendorError, type VendorError } from "../vendor-error.ts";

const OVERLOADED = new Set(["server_is_overloaded", "slow_down", "policy_capacity_unavailable"]);
const REFUSED = new Set(["cyber_policy", "bio_policy", "misalignment_policy_violation"]);
const LIMIT_REACHED = /^(usage_limit_reached|workspace_.*(usage_limit_reached|credits_depleted))$/;

/** A response with an error status. */
export function readCodexFailure(
  endpoint: Endpoint,
  answer: { status: number; headers: Headers; text: string },
  nowMs = Date.now(),
): ProviderFailure {
  const error = findError(tryParseJson(redact(answer.text, endpoint.secrets)));
  const limit = error === undefined ? undefined : limitFailure(endpoint, error, nowMs);
  if (limit !== undefined) return { ...limit, status: answer.status };
  const shared = answerFailure(endpoint, answer);
  const vendor = error === undefined ? undefined : findCodexError({ error });
  return vendor === undefined ? shared : { ...shared, ...vendorFailure(endpoint, vendor, answer.status) };
}

/** An error in a stream: in `response.failed`, or an event of its own. */
export function readStreamFailure(
  endpoint: Endpoint,
  event: unknown,
  nowMs = Date.now(),
): ProviderFailure | undefined {
  // Redact before truncating: a truncated token is not recognized.
  const clean = tryParseJson(redact(JSON.stringify(event) ?? "", endpoint.secrets));
  const error = findError(clean);
  const limit = error === undefined ? undefined : limitFailure(endpoint, error, nowMs);
  if (limit !== undefined) return limit;
  const vendor = findCodexError(clean);
  if (vendor === undefined) return undefined;
  const retryAfterMs = readRetryDelay(vendor.message);
  return { ...vendorFailure(endpoint, vendor), ...defined({ retryAfterMs }) };
}

/** Maps Codex's own codes to shared ones. */
function findCodexError(body: unknown): VendorError | undefined {
  const vendor = findVendorError(body);
  if (vendor === undefined) return undefined;
  if (vendor.codes.some((code) => REFUSED.has(code))) return { ...vendor, isFiltered: true };
  if (vendor.codes.some((code) => OVERLOADED.has(code))) return { ...vendor, codes: ["overloaded"] };
  if (vendor.codes.includes("invalid_prompt")) return { ...vendor, codes: ["invalid_request_error"] };
  return vendor;
}

/** The plan's usage limit is reached: a retry would have to wait hours or days. */
function limitFailure(endpoint: Endpoint, error: JsonObject, nowMs: number): ProviderFailure | undefined {
  const codes = [error["type"], error["code"]].filter((code) => typeof code === "string");
  if (!codes.some((code) => LIMIT_REACHED.test(code))) return undefined;
  const resetsAtMs = readResetTime(error, nowMs);
  const plan = typeof error["plan_type"] === "string" ? ` (${error["plan_type"].slice(0, 40)})` : "";
  const until =
    resetsAtMs === undefined
      ? "try again later"
      : `it resets at ${formatTime(resetsAtMs)} (in ${formatDuration(resetsAtMs - nowMs)})`;
  return {
    kind: "rate_limit",
    message: `the provider ${endpoint.key} reports that your plan's usage limit${plan} is reached; ${until}, or choose another provider`,
    ...(resetsAtMs === undefined ? {} : { retryAfterMs: Math.max(0, resetsAtMs - nowMs) }),
    isLasting: true,
  };
}

function readResetTime(error: JsonObject, nowMs: number): number | undefined {
  const { resets_at: at, resets_in_seconds: within } = error;
  if (typeof at === "number" && Number.isFinite(at) && at > 0 && at < 1e11) return at * 1000;
  if (typeof within === "number" && within >= 0 && within < 1e9) return nowMs + within * 1000;
  return undefined;
}

/** In local time: "2026-11-16 10:44". */
function formatTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function formatDuration(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** From the message: "Please try again in 11.054s". */
function readRetryDelay(message: string): number | undefined {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message);
  if (found === null) return undefined;
  return Math.round(Number(found[1]) * (found[2]?.toLowerCase() === "ms" ? 1 : 1000));
}

function findError(body: unknown): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body["error"])) return body["error"];
  return body["type"] === "error" ? body : undefined;
}
