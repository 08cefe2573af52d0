// Validates the shape of a request before it is drawn; an incomplete one is not shown.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { RequestRow } from "../../protocol/requests.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => Number.isFinite(value);
const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isList =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isShape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([key, check]) => check(own(value, key)));

const ROW = isShape({
  request_id: isText,
  session_id: isText,
  backend: isText,
  request_type: isText,
  status: isText,
  shown_hash: isText,
  requested_at_ms: isNumber,
  expires_at_ms: isOptional(isNumber),
  item_id: isOptional(isText),
  path: isOptional(isList(isText)),
  payload: isShape({
    title: isText,
    reason: isOptional(isText),
    command: isOptional(isText),
    cwd: isOptional(isText),
    tool_name: isOptional(isText),
    plan: isOptional(isText),
    details: isOptional(isObject),
    changes: isOptional(
      isList(
        isShape({ path: isText, kind: isText, diff: isOptional(isText), move_path: isOptional(isText) }),
      ),
    ),
    questions: isOptional(
      isList(
        isShape({
          id: isText,
          question: isText,
          header: isOptional(isText),
          options: isOptional(isList(isShape({ label: isText, description: isOptional(isText) }))),
        }),
      ),
    ),
    choices: isList(
      isShape({
        decision: isText,
        option: isOptional(isText),
        takes: isOptional(isList(isText)),
        remembers: isOptional(isList(isText)),
        writes: isOptional(isList(isShape({ path: isText, content: isText }))),
      }),
    ),
  }),
});

export function isRow(value: unknown): value is RequestRow {
  return ROW(value);
}

function own(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
