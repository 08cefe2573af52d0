// Reads the errors of vendors, which all have shapes of their own, as a message, codes and a kind.

import { cutExcerpt } from "../../base/excerpt.ts";
import { isObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { ProviderFailureKind } from "./types.ts";

const MAX_MESSAGE_CHARS = 2000;

export interface VendorError {
  message: string;
  /** The vendor's code, type and status, in lower case. */
  codes: readonly string[];
  /** Status from the body, if any. */
  status?: number;
  isFiltered: boolean;
}

/** Reads the body of an error response, in any format. */
export function readErrorBody(text: string): VendorError {
  const body = tryParseJson(text);
  const error = body === undefined ? undefined : findVendorError(body);
  if (error !== undefined) return error;
  if (body !== undefined) return toVendorError(cutExcerpt(JSON.stringify(body) ?? "", MAX_MESSAGE_CHARS));
  if (/^\s*<(!doctype|html)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim();
    return toVendorError(`it returned a web page${title ? ` ("${cutExcerpt(title, 200)}")` : ""}`);
  }
  return toVendorError(cutExcerpt(text.trim(), MAX_MESSAGE_CHARS));
}

/** Finds the error in a body or in a chunk of a stream. */
export function findVendorError(body: unknown): VendorError | undefined {
  // Gemini wraps its errors in an array.
  const whole = Array.isArray(body) ? body[0] : body;
  if (!isObject(whole)) return undefined;
  const inner = whole["error"];
  if (typeof inner === "string" && inner !== "") return readVendorError({ ...whole, message: inner });
  if (isObject(inner)) return readVendorError(inner);
  const listed = whole["errors"];
  if (Array.isArray(listed) && isObject(listed[0])) return readVendorError(listed[0]);
  const isBare =
    whole["object"] === "error" ||
    whole["type"] === "error" ||
    (whole["choices"] === undefined && ("detail" in whole || typeof whole["message"] === "string"));
  return isBare ? readVendorError(whole) : undefined;
}

export function classifyError(error: VendorError, status = error.status): ProviderFailureKind {
  if (error.isFiltered) return "content_filter";
  const named = error.codes.map((code) => KINDS.get(code)).find((kind) => kind !== undefined);
  const isVague = named === undefined || named === "bad_request";
  if (isVague && (status === undefined || status === 400 || status === 413 || status === 422)) {
    if (status === 413 || TOO_LONG.test(error.message)) return "context_too_long";
  }
  // Codes are more precise than the status: some send 429 for an empty account, or 400 for a wrong key.
  if (named !== undefined && (!isVague || status === undefined)) return named;
  if (status === undefined) return "server";
  return STATUS_KINDS.get(status) ?? (status >= 500 ? "server" : status >= 400 ? "bad_request" : "protocol");
}

const TOO_LONG =
  /(maximum|max|exceed\w*|beyond|larger than|too (long|large|many)).{0,60}\b(context|tokens?)\b|context (length|window|size).{0,60}exceed|prompt is too long|input is too long/i;

const STATUS_KINDS: ReadonlyMap<number, ProviderFailureKind> = new Map([
  [401, "auth"],
  [402, "auth"],
  [403, "auth"],
  [404, "not_found"],
  [429, "rate_limit"],
  [503, "overloaded"],
  [529, "overloaded"],
]);

/** An account without credit is "auth", because a retry does not help. */
const KINDS: ReadonlyMap<string, ProviderFailureKind> = new Map<string, ProviderFailureKind>([
  ["invalid_api_key", "auth"],
  ["authentication_error", "auth"],
  ["permission_error", "auth"],
  ["permission_denied", "auth"],
  ["unauthenticated", "auth"],
  ["insufficient_quota", "auth"],
  ["billing_error", "auth"],
  ["billing_hard_limit_reached", "auth"],
  ["rate_limit_exceeded", "rate_limit"],
  ["rate_limit_error", "rate_limit"],
  ["too_many_requests", "rate_limit"],
  ["resource_exhausted", "rate_limit"],
  ["overloaded_error", "overloaded"],
  ["overloaded", "overloaded"],
  ["unavailable", "overloaded"],
  ["server_error", "server"],
  ["internal_server_error", "server"],
  ["api_error", "server"],
  ["timeout_error", "server"],
  ["internal", "server"],
  ["model_not_found", "not_found"],
  ["not_found_error", "not_found"],
  ["context_length_exceeded", "context_too_long"],
  ["request_too_large", "context_too_long"],
  ["exceed_context_size_error", "context_too_long"],
  ["invalid_request_error", "bad_request"],
  ["invalid_argument", "bad_request"],
]);

const FILTER_CODES = new Set(["content_filter", "responsibleaipolicyviolation", "content_policy_violation"]);

function readVendorError(error: JsonObject): VendorError {
  const inner = isObject(error["innererror"]) ? error["innererror"] : {};
  const fields = [error["code"], error["type"], error["status"], inner["code"]];
  const codes = fields.flatMap((field) => (typeof field === "string" ? [field.toLowerCase()] : []));
  const status = fields.map(Number).find((field) => Number.isInteger(field) && field >= 400 && field < 600);
  const categories = findFilteredCategories(inner["content_filter_result"] ?? error["content_filter_result"]);
  const isFiltered = codes.some((code) => FILTER_CODES.has(code)) || categories.length > 0;
  const why = categories.length === 0 ? "" : ` (${categories.join(", ")})`;
  return {
    message: `${readMessage(error, codes)}${why}`,
    codes,
    ...defined({ status }),
    isFiltered,
  };
}

function readMessage(error: JsonObject, codes: readonly string[]): string {
  const said = error["message"] ?? error["detail"] ?? error["msg"];
  const text = typeof said === "string" ? said : said === undefined ? codes.join(", ") : JSON.stringify(said);
  // OpenRouter's message is only "Provider returned error"; the upstream error is in `metadata.raw`.
  const raw = isObject(error["metadata"]) ? error["metadata"]["raw"] : undefined;
  return cutExcerpt(typeof raw === "string" && raw !== "" ? `${text}: ${raw}` : text, MAX_MESSAGE_CHARS);
}

/** Azure lists the categories of its filter: `{violence: {filtered: true}}`. */
function findFilteredCategories(result: unknown): string[] {
  if (!isObject(result)) return [];
  return Object.entries(result).flatMap(([name, entry]) =>
    isObject(entry) && entry["filtered"] === true ? [name] : [],
  );
}

function toVendorError(message: string): VendorError {
  return { message, codes: [], isFiltered: false };
}
