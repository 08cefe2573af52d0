// What of a frame can be found: what the user wrote, what the agent wrote, and what tools were given and returned. Pure.
import { isObject, type JsonObject } from "../../base/json.ts";
import { asObjects } from "../../base/values.ts";
import type { SearchRole } from "../../protocol/search.ts";

export interface FoundText {
  role: SearchRole;
  text: string;
}

/** Of a longer text, the rest is not found. */
const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 8;

type Read = (frame: JsonObject) => FoundText[];

const READERS: ReadonlyMap<unknown, Read> = new Map<unknown, Read>([
  [
    "agent.user_echo",
    ({ message }) => take("user", isObject(message) ? readContent(message["content"]) : ""),
  ],
  [
    "agent.message",
    ({ content }) => [...take("agent", readContent(content)), ...take("tool", readCalls(content))],
  ],
  [
    "agent.tool_use",
    // With an index it is part of a stream: the whole call follows in a message.
    ({ name, input, index }) => (index === undefined ? take("tool", readCall(name, input)) : []),
  ],
  // How messages are recorded; agents repeat them only if they are asked to.
  [
    "agent.notice",
    ({ category, text }) =>
      category === "input_delivered" && typeof text === "string" ? take("user", text) : [],
  ],
  ["agent.tool_result", ({ output }) => take("tool", readOutput(output))],
]);

export function isSearched(frame: { type?: unknown; category?: unknown }): boolean {
  if (frame.type === "agent.notice") return frame.category === "input_delivered";
  return READERS.has(frame.type);
}

/** At most one text per role. */
export function readFrameText(frame: unknown): FoundText[] {
  if (!isObject(frame)) return [];
  return READERS.get(frame["type"])?.(frame) ?? [];
}

function take(role: SearchRole, text: string): FoundText[] {
  return text.trim() === "" ? [] : [{ role, text: text.slice(0, MAX_CHARS) }];
}

function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  return asObjects(content)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");
}

function readCalls(content: unknown): string {
  return asObjects(content)
    .flatMap(({ type, name, input }) => (type === "tool_use" ? [readCall(name, input)] : []))
    .join("\n");
}

function readCall(name: unknown, input: unknown): string {
  return [typeof name === "string" ? name : "", ...listStrings(input, MAX_DEPTH)].join("\n");
}

function readOutput(output: unknown): string {
  if (typeof output === "string") return output;
  return readContent(output) || listStrings(output, MAX_DEPTH).join("\n");
}

/** All strings in a value, without the names of fields. Not images and other encoded data. */
function listStrings(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (depth === 0 || typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value) && "media_type" in value) return [];
  return Object.values(value).flatMap((item) => listStrings(item, depth - 1));
}
