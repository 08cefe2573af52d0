// Whether a request has the shape that whoever draws it relies upon. Nobody decides upon half of one.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { RequestRow } from "../../protocol/requests.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => Number.isFinite(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([key, check]) => check(own(value, key)));

const ROW = shape({
  request_id: isText,
  session_id: isText,
  backend: isText,
  request_type: isText,
  status: isText,
  shown_hash: isText,
  requested_at_ms: isNumber,
  expires_at_ms: maybe(isNumber),
  item_id: maybe(isText),
  path: maybe(listOf(isText)),
  payload: shape({
    title: isText,
    reason: maybe(isText),
    command: maybe(isText),
    cwd: maybe(isText),
    tool_name: maybe(isText),
    plan: maybe(isText),
    details: maybe(isObject),
    changes: maybe(
      listOf(shape({ path: isText, kind: isText, diff: maybe(isText), move_path: maybe(isText) })),
    ),
    questions: maybe(
      listOf(
        shape({
          id: isText,
          question: isText,
          header: maybe(isText),
          options: maybe(listOf(shape({ label: isText, description: maybe(isText) }))),
        }),
      ),
    ),
    choices: listOf(
      shape({
        decision: isText,
        option: maybe(isText),
        takes: maybe(listOf(isText)),
        remembers: maybe(listOf(isText)),
        writes: maybe(listOf(shape({ path: isText, content: isText }))),
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
