// Frames that clients send often, recognized in their usual form without the schema, which takes ten times as long. Any
// other form is left to the schema, which also explains what is wrong.
import { isObject, type JsonObject } from "../../base/json.ts";
import { SESSION_ID } from "../session.ts";
import type { InboundType } from "./blemees2.ts";

const SIMPLE = new Map<unknown, (frame: JsonObject) => boolean>([
  [
    "agent.user",
    (frame) => {
      const { session_id, message } = frame;
      if (typeof session_id !== "string" || !SESSION_ID.test(session_id) || !isObject(message)) return false;
      const { role, content } = message;
      if (role !== "user" || typeof content !== "string") return false;
      return countKeys(frame) === 3 && countKeys(message) === 2;
    },
  ],
  [
    "blemeesd.ping",
    (frame) => {
      const count = countKeys(frame);
      return count === 1 || (count === 2 && typeof frame["id"] === "string");
    },
  ],
]);

/** The type of a frame that its schema accepts as it is; undefined means that only the schema knows. */
export function findSimpleType(frame: JsonObject): InboundType | undefined {
  const { type } = frame;
  return SIMPLE.get(type)?.(frame) === true ? (type as InboundType) : undefined;
}

function countKeys(value: JsonObject): number {
  return Object.keys(value).length;
}
