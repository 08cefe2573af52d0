// Validates an inbound frame with a dialect's table: first by its type, so that errors name the frame and the field.
import type * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { explainIssues } from "../../base/schema.ts";

export function checkFrame<T extends string>(
  table: Readonly<Record<T, z.ZodType>>,
  frame: JsonObject,
): { type: T; frame: JsonObject } {
  const { type } = frame;
  if (typeof type !== "string") throw new CodedError("invalid_message", "/type: required, expected string");
  if (!Object.hasOwn(table, type)) {
    throw new CodedError("unknown_message", `unknown frame type ${JSON.stringify(type.slice(0, 80))}`);
  }
  const checked = table[type as T].safeParse(frame);
  if (!checked.success) {
    throw new CodedError("invalid_message", `${type}: ${explainIssues(checked.error.issues)}`);
  }
  return { type: type as T, frame: checked.data as JsonObject };
}
