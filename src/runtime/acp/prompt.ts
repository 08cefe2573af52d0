// Converts the blocks of an ACP prompt to a user message.
import type { ContentBlock, EmbeddedResourceResource } from "@agentclientprotocol/sdk";
import { toMessage } from "../../base/coded-error.ts";
import { createImagePart } from "../images.ts";
import type { ImageDetail, UserContentPart } from "../messages.ts";
import { invalidParamsError } from "./errors.ts";

export interface ImageLimits {
  maxImageBytes: number;
  detail: ImageDetail;
}

export interface PromptInput {
  text: string;
  parts: UserContentPart[];
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Text and links are joined in order, and embedded files are appended as context. Text after an image stays after it.
 * Throws -32602 for unsupported blocks.
 */
export function parsePrompt(blocks: readonly ContentBlock[], limits: ImageLimits): PromptInput {
  const segments: UserContentPart[] = [];
  const contexts: string[] = [];
  for (const block of blocks) addBlock(block, { segments, contexts, limits });
  if (contexts.length > 0) addText(segments, `\n\n${contexts.join("\n")}`);
  const first = segments[0];
  if (first === undefined || segments.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw invalidParamsError("the prompt is empty; send at least one block with text or an image");
  }
  if (first.type === "text") return { text: first.text, parts: segments.slice(1) };
  // A message starts with text, so text after the images moves before them.
  const text = segments.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text, parts: segments.filter((part) => part.type !== "text") };
}

interface PromptDraft {
  segments: UserContentPart[];
  contexts: string[];
  limits: ImageLimits;
}

function addBlock(block: ContentBlock, gathered: PromptDraft): void {
  const { segments, limits } = gathered;
  if (block.type === "text") addText(segments, block.text);
  else if (block.type === "image") segments.push(toImagePart(block.data, limits));
  else if (block.type === "resource_link") addText(segments, formatMention(block.uri, block.name));
  else if (block.type === "resource") addResource(block.resource, gathered);
  else
    throw invalidParamsError(`blocks of type "${block.type}" are not supported; send text, images or files`);
}

function addResource(resource: EmbeddedResourceResource, { segments, contexts, limits }: PromptDraft): void {
  const { uri, mimeType } = resource;
  if ("text" in resource) {
    addText(segments, formatMention(uri));
    contexts.push(`<context ref=${JSON.stringify(uri)}>\n${resource.text}\n</context>`);
  } else if (mimeType?.startsWith("image/")) {
    segments.push(toImagePart(resource.blob, limits));
  } else {
    addText(segments, `${formatMention(uri)} (binary, content not shown)`);
  }
}

/** Separates blocks with a space. */
function addText(segments: UserContentPart[], text: string): void {
  const last = segments.at(-1);
  if (last?.type !== "text") {
    segments.push({ type: "text", text });
    return;
  }
  const isApart = last.text === "" || /\s$/.test(last.text) || /^[\s,.;:!?)\]]/.test(text);
  last.text += isApart ? text : ` ${text}`;
}

function formatMention(uri: string, name?: string): string {
  const path = uri.startsWith("file://") ? filePath(uri) : uri;
  return name === undefined || path.endsWith(name) ? `@${path}` : `@${path} (${name})`;
}

function filePath(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    // Not a valid URL; pass it on unchanged.
    return uri;
  }
}

function toImagePart(data: string, limits: ImageLimits): UserContentPart {
  if (data === "" || !BASE64.test(data)) throw invalidParamsError("image data is not base64");
  try {
    return createImagePart(Buffer.from(data, "base64"), limits);
  } catch (error) {
    throw invalidParamsError(toMessage(error));
  }
}
