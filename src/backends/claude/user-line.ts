// Formats a user message for claude's stdin. A message that claude cannot read would end the process without a result
// (2.1.197), so it is refused here.
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";

interface Need {
  field: string;
  expected: string;
  test(value: unknown): boolean;
}

const SOURCE: Need = { field: "source", expected: "an object", test: isObject };

/** Without these, claude 2.1.197 dies or (document) fails every later turn of the session. */
const NEEDS: ReadonlyMap<string, Need> = new Map([
  ["text", { field: "text", expected: "a string", test: (value: unknown) => typeof value === "string" }],
  ["image", SOURCE],
  ["document", SOURCE],
]);

/** `uuid`: claude's id of the message in its history. */
export function toUserLine(message: UserMessage, session_id: string, uuid?: string): string {
  const fault = findFault(message);
  if (fault !== undefined) throw new CodedError("invalid_message", `/message${fault}`);
  return JSON.stringify({ type: "user", message, session_id, ...defined({ uuid }) });
}

/** Undefined if claude cannot read the message. */
export function tryUserLine(message: UserMessage, session_id: string, uuid: string): string | undefined {
  return findFault(message) === undefined ? toUserLine(message, session_id, uuid) : undefined;
}

function findFault(message: UserMessage): string | undefined {
  // Checked despite the type: clients can send anything, and the process depends on it.
  const { role, content } = message as { role: unknown; content: unknown };
  if (role !== "user") return '/role: expected "user"';
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content)) return "/content: expected a string or an array of content blocks";
  if (content.length === 0) return "/content: expected at least one content block";
  for (const [index, block] of content.entries()) {
    if (!isObject(block) || typeof block["type"] !== "string") {
      return `/content/${index}: expected an object with a type`;
    }
    const need = NEEDS.get(block["type"]);
    if (need !== undefined && !need.test(block[need.field])) {
      return `/content/${index}/${need.field}: expected ${need.expected}`;
    }
  }
  return undefined;
}
