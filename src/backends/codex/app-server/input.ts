// A user message → the input of a turn. What Codex cannot take is refused here, with the path of the block.
import { CodedError } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { UserMessage } from "../../../protocol/content.ts";

/** Codex 0.166.0 refuses more, in all texts of a turn together. */
export const MAX_TEXT_CHARS = 1_048_576;

type ToInput = (block: JsonObject, at: string) => JsonObject;

const BLOCKS: ReadonlyMap<string, ToInput> = new Map<string, ToInput>([
  ["text", (block, at) => ({ type: "text", text: need(block, "text", at) })],
  ["image", (block, at) => ({ type: "image", url: urlOf(block["source"], `${at}/source`) })],
  // Codex's own name for an image that lies on this machine.
  ["localImage", (block, at) => ({ type: "localImage", path: need(block, "path", at) })],
]);

export function toInput(message: UserMessage): JsonObject[] {
  // A type says less than a client sends: this is the last look before a process depends on it.
  const { content } = message as { content: unknown };
  if (typeof content === "string") return checked([{ type: "text", text: content }]);
  if (!Array.isArray(content)) throw bad("/message/content: expected a string or an array of content blocks");
  if (content.length === 0) throw bad("/message/content: expected at least one content block");
  return checked(content.map((block: unknown, index) => toPart(block, `/message/content/${index}`)));
}

function toPart(block: unknown, at: string): JsonObject {
  if (!isObject(block) || typeof block["type"] !== "string")
    throw bad(`${at}: expected an object with a type`);
  const build = BLOCKS.get(block["type"]);
  if (build !== undefined) return build(block, at);
  throw bad(`${at}: Codex takes no "${block["type"]}" blocks; it takes ${[...BLOCKS.keys()].join(", ")}`);
}

function urlOf(source: unknown, at: string): string {
  if (!isObject(source)) throw bad(`${at}: expected an object`);
  if (source["type"] === "base64") {
    return `data:${need(source, "media_type", at)};base64,${need(source, "data", at)}`;
  }
  if (source["type"] === "url") return need(source, "url", at);
  throw bad(`${at}/type: expected "base64" or "url"`);
}

function need(from: JsonObject, field: string, at: string): string {
  const value = from[field];
  if (typeof value !== "string") throw bad(`${at}/${field}: expected a string`);
  return value;
}

function checked(input: JsonObject[]): JsonObject[] {
  const texts = input.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MAX_TEXT_CHARS) return input;
  // Codex counts characters; a string's length counts those outside the first plane twice.
  const chars = texts.reduce((sum, text) => sum + [...text].length, 0);
  if (chars <= MAX_TEXT_CHARS) return input;
  throw bad(`/message/content: ${chars} characters of text; Codex takes at most ${MAX_TEXT_CHARS} a turn`);
}

function bad(message: string): CodedError {
  return new CodedError("invalid_message", message);
}
