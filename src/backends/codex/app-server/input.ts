// A user message → the input of a turn. Blocks Codex cannot take are refused, with their path.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { messageError, requireString } from "../../values.ts";

/** Codex 0.166.0 refuses more, in all texts of a turn together. */
export const MAX_TEXT_CHARS = 1_048_576;

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

type ToInput = (block: JsonObject, at: string) => JsonObject;

const BLOCKS: ReadonlyMap<string, ToInput> = new Map<string, ToInput>([
  ["text", (block, at) => ({ type: "text", text: requireString(block, "text", at) })],
  ["image", (block, at) => ({ type: "image", url: readUrl(block["source"], `${at}/source`) })],
  // Codex's own name for an image on this machine.
  ["localImage", (block, at) => ({ type: "localImage", path: requireString(block, "path", at) })],
]);

export function toInput(message: UserMessage): JsonObject[] {
  // Clients can send more than the type says: this is the last check before a process gets it.
  const { content } = message as { content: unknown };
  if (typeof content === "string") return checkLength([{ type: "text", text: content }]);
  if (!Array.isArray(content))
    throw messageError("/message/content: expected a string or an array of content blocks");
  if (content.length === 0) throw messageError("/message/content: expected at least one content block");
  return checkLength(content.map((block: unknown, index) => toPart(block, `/message/content/${index}`)));
}

function toPart(block: unknown, at: string): JsonObject {
  if (!isObject(block) || typeof block["type"] !== "string")
    throw messageError(`${at}: expected an object with a type`);
  const build = BLOCKS.get(block["type"]);
  if (build !== undefined) return build(block, at);
  throw messageError(
    `${at}: Codex does not accept "${block["type"]}" blocks, only ${[...BLOCKS.keys()].join(", ")}`,
  );
}

function readUrl(source: unknown, at: string): string {
  if (!isObject(source)) throw messageError(`${at}: expected an object`);
  if (source["type"] === "base64") {
    return imageUrl(requireString(source, "media_type", at), requireString(source, "data", at), at);
  }
  if (source["type"] !== "url") throw messageError(`${at}/type: expected "base64" or "url"`);
  const url = requireString(source, "url", at);
  // The model fetches it; Codex would keep anything else in the thread, where it breaks every later turn.
  if (url.startsWith("https://")) return url;
  const [, media, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  if (media === undefined || data === undefined) {
    throw messageError(`${at}/url: expected https://… or data:image/…;base64,…`);
  }
  return imageUrl(media, data, at);
}

function imageUrl(media: string, data: string, at: string): string {
  if (!IMAGES.has(media)) throw messageError(`${at}/media_type: expected one of ${[...IMAGES].join(", ")}`);
  if (data === "" || !BASE64.test(data)) throw messageError(`${at}/data: expected base64`);
  return `data:${media};base64,${data}`;
}

function checkLength(input: JsonObject[]): JsonObject[] {
  const texts = input.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MAX_TEXT_CHARS) return input;
  // Codex counts characters; a string's length counts those outside the first plane twice.
  const chars = texts.reduce((sum, text) => sum + [...text].length, 0);
  if (chars <= MAX_TEXT_CHARS) return input;
  throw messageError(
    `/message/content: ${chars} characters of text; Codex accepts at most ${MAX_TEXT_CHARS} per turn`,
  );
}
