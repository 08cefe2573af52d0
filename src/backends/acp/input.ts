// A user message → the content blocks of a prompt. Blocks the agent cannot take are refused, with their path.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asString } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { messageError, requireString } from "../values.ts";

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** ACP's own blocks, and the capability each requires. */
const NATIVE: ReadonlyMap<string, string | undefined> = new Map([
  ["resource_link", undefined],
  ["resource", "embeddedContext"],
  ["audio", "audio"],
]);

/** `capabilities`: the agent's `promptCapabilities`. */
export function toPrompt(message: UserMessage, capabilities: JsonObject, agent: string): JsonObject[] {
  // Clients can send more than the type says: this is the last check before a process gets it.
  const { content } = message as { content: unknown };
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content))
    throw messageError("/message/content: expected a string or an array of content blocks");
  if (content.length === 0) throw messageError("/message/content: expected at least one content block");
  return content.map((block: unknown, index) =>
    toBlock(block, `/message/content/${index}`, capabilities, agent),
  );
}

function toBlock(block: unknown, at: string, capabilities: JsonObject, agent: string): JsonObject {
  if (!isObject(block) || typeof block["type"] !== "string")
    throw messageError(`${at}: expected an object with a type`);
  const { type } = block;
  if (type === "text") return { type, text: requireString(block, "text", at) };
  if (type === "image") {
    if (capabilities["image"] !== true) throw messageError(`${at}: ${agent} does not accept images`);
    return toImage(block, at);
  }
  const needed = NATIVE.get(type);
  if (!NATIVE.has(type) || (needed !== undefined && capabilities[needed] !== true)) {
    throw messageError(`${at}: ${agent} does not accept "${type}" blocks`);
  }
  return block;
}

/** The shape that all backends share, or ACP's own. */
function toImage(block: JsonObject, at: string): JsonObject {
  if (typeof block["data"] === "string") return image(block, "mimeType", at);
  const source = asObject(block["source"]);
  if (source["type"] === "base64") return image(source, "media_type", `${at}/source`);
  const url = source["type"] === "url" ? source["url"] : undefined;
  const [, media_type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(asString(url) ?? "") ?? [];
  if (media_type === undefined || data === undefined) {
    throw messageError(`${at}/source: expected base64 data or a data: URL; ACP agents do not fetch images`);
  }
  return image({ media_type, data }, "media_type", `${at}/source`);
}

function image(from: JsonObject, mediaKey: string, at: string): JsonObject {
  const [mimeType, data] = [requireString(from, mediaKey, at), requireString(from, "data", at)];
  if (!mimeType.startsWith("image/")) throw messageError(`${at}/${mediaKey}: expected image/…`);
  if (!BASE64.test(data)) throw messageError(`${at}/data: expected base64`);
  return { type: "image", mimeType, data };
}
