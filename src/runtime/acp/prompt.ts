// The blocks of an ACP prompt as one message of the user.
import type { ContentBlock, EmbeddedResourceResource } from "@agentclientprotocol/sdk";
import { messageOf } from "../../base/coded-error.ts";
import { imageFromBytes } from "../images.ts";
import type { ImageDetail, UserContentPart } from "../messages.ts";
import { invalidParams } from "./errors.ts";

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
 * Text and links are put together as they stand, embedded files follow at the end as context. What stands behind an
 * image stays behind it. Throws -32602 for what no model could be given.
 */
export function promptInput(blocks: readonly ContentBlock[], limits: ImageLimits): PromptInput {
  const segments: UserContentPart[] = [];
  const contexts: string[] = [];
  for (const block of blocks) addBlock(block, { segments, contexts, limits });
  if (contexts.length > 0) addText(segments, `\n\n${contexts.join("\n")}`);
  const first = segments[0];
  if (first === undefined || segments.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw invalidParams("the prompt is empty; send at least one block with text or an image");
  }
  if (first.type === "text") return { text: first.text, parts: segments.slice(1) };
  // A message begins with text, so what was said behind the images goes before them.
  const text = segments.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text, parts: segments.filter((part) => part.type !== "text") };
}

interface Gathered {
  segments: UserContentPart[];
  contexts: string[];
  limits: ImageLimits;
}

function addBlock(block: ContentBlock, gathered: Gathered): void {
  const { segments, limits } = gathered;
  if (block.type === "text") addText(segments, block.text);
  else if (block.type === "image") segments.push(image(block.data, limits));
  else if (block.type === "resource_link") addText(segments, mention(block.uri, block.name));
  else if (block.type === "resource") addResource(block.resource, gathered);
  else
    throw invalidParams(
      `a block of type "${block.type}" cannot be given to a model; send text, images or files`,
    );
}

function addResource(resource: EmbeddedResourceResource, { segments, contexts, limits }: Gathered): void {
  const { uri, mimeType } = resource;
  if ("text" in resource) {
    addText(segments, mention(uri));
    contexts.push(`<context ref=${JSON.stringify(uri)}>\n${resource.text}\n</context>`);
  } else if (mimeType?.startsWith("image/")) {
    segments.push(image(resource.blob, limits));
  } else {
    addText(segments, `${mention(uri)} (binary, its content is not shown)`);
  }
}

/** Two blocks must not become one word. */
function addText(segments: UserContentPart[], text: string): void {
  const last = segments.at(-1);
  if (last?.type !== "text") {
    segments.push({ type: "text", text });
    return;
  }
  const isApart = last.text === "" || /\s$/.test(last.text) || /^[\s,.;:!?)\]]/.test(text);
  last.text += isApart ? text : ` ${text}`;
}

function mention(uri: string, name?: string): string {
  const path = uri.startsWith("file://") ? filePath(uri) : uri;
  return name === undefined || path.endsWith(name) ? `@${path}` : `@${path} (${name})`;
}

function filePath(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    // Not a URL that can be taken apart: the model sees it as it came.
    return uri;
  }
}

function image(data: string, limits: ImageLimits): UserContentPart {
  if (data === "" || !BASE64.test(data)) throw invalidParams("an image's data is not base64");
  try {
    return imageFromBytes(Buffer.from(data, "base64"), limits);
  } catch (error) {
    throw invalidParams(messageOf(error));
  }
}
