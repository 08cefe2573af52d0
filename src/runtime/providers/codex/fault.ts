// What Codex's backend says when it does not answer: the words that only it has, before those that all vendors share.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { answerFailure, type Place, redact, vendorFailure } from "../failure.ts";
import type { ProviderFailure } from "../types.ts";
import { findVendorError, jsonIn, type VendorError } from "../vendor-error.ts";

const OVERLOADED = new Set(["server_is_overloaded", "slow_down", "policy_capacity_unavailable"]);
const REFUSED = new Set(["cyber_policy", "bio_policy", "misalignment_policy_violation"]);
const LIMIT_REACHED = /^(usage_limit_reached|workspace_.*(usage_limit_reached|credits_depleted))$/;

/** An answer that is no success. */
export function answerFault(
  place: Place,
  answer: { status: number; headers: Headers; text: string },
  nowMs = Date.now(),
): ProviderFailure {
  const error = errorIn(jsonIn(redact(answer.text, place.secrets)));
  const limit = error === undefined ? undefined : limitFailure(place, error, nowMs);
  if (limit !== undefined) return { ...limit, status: answer.status };
  const shared = answerFailure(place, answer);
  const vendor = error === undefined ? undefined : describe({ error });
  return vendor === undefined ? shared : { ...shared, ...vendorFailure(place, vendor, answer.status) };
}

/** An error inside of a stream: of `response.failed`, or an event of its own. Undefined: there is none. */
export function streamFault(place: Place, event: unknown, nowMs = Date.now()): ProviderFailure | undefined {
  // Before anything is cut: half a token is not known as one.
  const clean = jsonIn(redact(JSON.stringify(event) ?? "", place.secrets));
  const error = errorIn(clean);
  const limit = error === undefined ? undefined : limitFailure(place, error, nowMs);
  if (limit !== undefined) return limit;
  const vendor = describe(clean);
  if (vendor === undefined) return undefined;
  const retryAfterMs = waitIn(vendor.message);
  return { ...vendorFailure(place, vendor), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** The codes that are Codex's own, in words that all vendors share. */
function describe(body: unknown): VendorError | undefined {
  const vendor = findVendorError(body);
  if (vendor === undefined) return undefined;
  if (vendor.codes.some((code) => REFUSED.has(code))) return { ...vendor, isFiltered: true };
  if (vendor.codes.some((code) => OVERLOADED.has(code))) return { ...vendor, codes: ["overloaded"] };
  if (vendor.codes.includes("invalid_prompt")) return { ...vendor, codes: ["invalid_request_error"] };
  return vendor;
}

/** What a plan allows is used up: hours or days, which nobody waits for in a retry. */
function limitFailure(place: Place, error: JsonObject, nowMs: number): ProviderFailure | undefined {
  const codes = [error["type"], error["code"]].filter((code) => typeof code === "string");
  if (!codes.some((code) => LIMIT_REACHED.test(code))) return undefined;
  const resetsAtMs = resetOf(error, nowMs);
  const plan = typeof error["plan_type"] === "string" ? ` (${error["plan_type"].slice(0, 40)})` : "";
  const until =
    resetsAtMs === undefined
      ? "try again later"
      : `it can be used again at ${clockTime(resetsAtMs)} (in ${span(resetsAtMs - nowMs)})`;
  return {
    kind: "rate_limit",
    message: `the provider ${place.key} says that the usage limit of your plan${plan} is reached; ${until}, or choose another provider`,
    ...(resetsAtMs === undefined ? {} : { retryAfterMs: Math.max(0, resetsAtMs - nowMs) }),
    isLasting: true,
  };
}

function resetOf(error: JsonObject, nowMs: number): number | undefined {
  const { resets_at: at, resets_in_seconds: within } = error;
  if (typeof at === "number" && Number.isFinite(at) && at > 0 && at < 1e11) return at * 1000;
  if (typeof within === "number" && within >= 0 && within < 1e9) return nowMs + within * 1000;
  return undefined;
}

/** Of this machine's zone: "2026-11-16 10:44". */
function clockTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function span(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** "Please try again in 11.054s": only the text says so. */
function waitIn(message: string): number | undefined {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message);
  if (found === null) return undefined;
  return Math.round(Number(found[1]) * (found[2]?.toLowerCase() === "ms" ? 1 : 1000));
}

function errorIn(body: unknown): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body["error"])) return body["error"];
  return body["type"] === "error" ? body : undefined;
}
