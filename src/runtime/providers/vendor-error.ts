// Reads the errors of vendors. Each has its own shape; what matters is a sentence, a code and what sort of error it is.
import { excerpt } from "../../base/excerpt.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { ProviderFailureKind } from "./types.ts";

const MAX_SAID_CHARS = 2000;

export interface VendorError {
  message: string;
  /** Their words for it, lower case: code, type, status. */
  codes: readonly string[];
  /** Some put the status into the body. */
  status?: number;
  isFiltered: boolean;
}

/** The body of an answer that is no success, in whatever form. */
export function readErrorBody(text: string): VendorError {
  const body = jsonIn(text);
  const error = body === undefined ? undefined : findVendorError(body);
  if (error !== undefined) return error;
  if (body !== undefined) return plain(excerpt(JSON.stringify(body) ?? "", MAX_SAID_CHARS));
  if (/^\s*<(!doctype|html)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim();
    return plain(`it answered with a web page${title ? ` ("${excerpt(title, 200)}")` : ""}`);
  }
  return plain(excerpt(text.trim(), MAX_SAID_CHARS));
}

/** The error in a body, or in a chunk of a stream. Undefined: it holds none. */
export function findVendorError(body: unknown): VendorError | undefined {
  // Gemini wraps its errors into a list.
  const whole = Array.isArray(body) ? body[0] : body;
  if (!isObject(whole)) return undefined;
  const inner = whole["error"];
  if (typeof inner === "string" && inner !== "") return describe({ ...whole, message: inner });
  if (isObject(inner)) return describe(inner);
  const listed = whole["errors"];
  if (Array.isArray(listed) && isObject(listed[0])) return describe(listed[0]);
  const isBare =
    whole["object"] === "error" ||
    whole["type"] === "error" ||
    (whole["choices"] === undefined && ("detail" in whole || typeof whole["message"] === "string"));
  return isBare ? describe(whole) : undefined;
}

export function kindOf(error: VendorError, status = error.status): ProviderFailureKind {
  if (error.isFiltered) return "content_filter";
  const named = error.codes.map((code) => KINDS.get(code)).find((kind) => kind !== undefined);
  const isVague = named === undefined || named === "bad_request";
  if (isVague && (status === undefined || status === 400 || status === 413 || status === 422)) {
    if (status === 413 || TOO_LONG.test(error.message)) return "context_too_long";
  }
  // Theirs is more exact than the status: 429 for an empty account, 400 for a wrong key.
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

/** An account without credit is "auth": waiting does not help it, so it must not be retried. */
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

function describe(error: JsonObject): VendorError {
  const inner = isObject(error["innererror"]) ? error["innererror"] : {};
  const fields = [error["code"], error["type"], error["status"], inner["code"]];
  const codes = fields.flatMap((field) => (typeof field === "string" ? [field.toLowerCase()] : []));
  const status = fields.map(Number).find((field) => Number.isInteger(field) && field >= 400 && field < 600);
  const categories = filteredCategories(inner["content_filter_result"] ?? error["content_filter_result"]);
  const isFiltered = codes.some((code) => FILTER_CODES.has(code)) || categories.length > 0;
  const why = categories.length === 0 ? "" : ` (${categories.join(", ")})`;
  return {
    message: `${sentenceOf(error, codes)}${why}`,
    codes,
    ...(status === undefined ? {} : { status }),
    isFiltered,
  };
}

function sentenceOf(error: JsonObject, codes: readonly string[]): string {
  const said = error["message"] ?? error["detail"] ?? error["msg"];
  const text = typeof said === "string" ? said : said === undefined ? codes.join(", ") : JSON.stringify(said);
  // OpenRouter's own message is "Provider returned error"; the provider's is below.
  const raw = isObject(error["metadata"]) ? error["metadata"]["raw"] : undefined;
  return excerpt(typeof raw === "string" && raw !== "" ? `${text}: ${raw}` : text, MAX_SAID_CHARS);
}

/** Azure names what its filter saw: `{violence: {filtered: true}}`. */
function filteredCategories(result: unknown): string[] {
  if (!isObject(result)) return [];
  return Object.entries(result).flatMap(([name, entry]) =>
    isObject(entry) && entry["filtered"] === true ? [name] : [],
  );
}

function plain(message: string): VendorError {
  return { message, codes: [], isFiltered: false };
}

export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not every proxy answers with JSON; its text is shown instead.
  }
}
