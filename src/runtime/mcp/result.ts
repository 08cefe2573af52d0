// The result of a tool, prompt or resource as text for the model.
import { isObject } from "../../base/json.ts";
import type { McpResult } from "./types.ts";

/** Blocks of a kind we do not know are named, not dropped in silence. */
export function formatBlock(block: unknown): string {
  if (!isObject(block)) return "";
  const { type, text, data, mimeType, uri, name, resource } = block;
  if (type === "text") return String(text ?? "");
  if (type === "image" || type === "audio")
    return `[${type}, ${String(mimeType)}, ${typeof data === "string" ? data.length : 0} characters of base64; not shown]`;
  if (type === "resource_link") return `[resource ${String(name)}: ${String(uri)}]`;
  if (type === "resource") return formatResource(resource);
  return `[content of the type ${String(type)}; not shown]`;
}

export function formatResource(resource: unknown): string {
  if (!isObject(resource)) return "";
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === "string") return `[resource ${String(uri)}]\n${text}`;
  const size = typeof blob === "string" ? blob.length : 0;
  return `[resource ${String(uri)}, ${String(mimeType)}, ${size} characters of base64; not shown]`;
}

export function formatToolResult(result: unknown): McpResult {
  const { content, structuredContent, isError } = isObject(result) ? result : {};
  const blocks = Array.isArray(content) ? content.map(formatBlock).filter((text) => text !== "") : [];
  if (blocks.length === 0 && structuredContent !== undefined) blocks.push(JSON.stringify(structuredContent));
  return { ok: isError !== true, text: blocks.length === 0 ? "[no output]" : blocks.join("\n") };
}
