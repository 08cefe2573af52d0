// Formats a message for Claude Code: its text, its images, and what replaces images that it cannot read.
import { CodedError } from "../../../base/coded-error.ts";
import type { UserContentPart } from "../../messages.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";

/** A block of a user message on the wire. */
export type ImageBlock =
  | { type: "image"; source: { type: "base64"; media_type: string; data: string } }
  | { type: "image"; source: { type: "url"; url: string } };

/** A message on the wire. */
export interface UserTurn {
  type: "user";
  message: { role: "user"; content: string | ({ type: "text"; text: string } | ImageBlock)[] };
  parent_tool_use_id: null;
  client_composed?: true;
}

/**
 * Claude Code reads any file that a message mentions as "@path", without asking, even if another agent or a web page wrote
 * the text. It looks only at the last block (2.1.197), and not at messages that are `client_composed` (since 2.1.248).
 */
const MENTION = /(?:^|[^\w])@\S/;
const NOT_ATTACHED = "[Files mentioned with @ are not attached; read the ones you need.]";
const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

export function toUserTurn({ prompt, images }: AttachedMessage): UserTurn {
  const isNaming = MENTION.test(prompt);
  const blocks = [
    ...images.flatMap((part) => toImageBlock(part) ?? []),
    ...(isNaming ? [{ type: "text" as const, text: NOT_ATTACHED }] : []),
  ];
  const content = blocks.length === 0 ? prompt : [{ type: "text" as const, text: prompt }, ...blocks];
  return {
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    ...(isNaming ? { client_composed: true } : {}),
  };
}

/** Undefined if Claude Code cannot read it. */
export function toImageBlock(part: UserContentPart): ImageBlock | undefined {
  if (part.type !== "image_url") return undefined;
  const { url } = part.image_url;
  if (/^https?:\/\//i.test(url)) return { type: "image", source: { type: "url", url } };
  const [, media_type, data] = DATA_URL.exec(url) ?? [];
  if (media_type === undefined || data === undefined) return undefined;
  return { type: "image", source: { type: "base64", media_type, data } };
}

export interface AttachedMessage {
  /** The text, with notes about omitted images. */
  prompt: string;
  images: readonly UserContentPart[];
}

/** Throws `bad_image` if Claude Code cannot read an image and the message must not be sent without it. */
export function attach(
  text: string,
  parts: readonly UserContentPart[],
  fallback: ClaudeCodeConfig["attachmentFallback"],
): AttachedMessage {
  const texts = [text];
  const images: UserContentPart[] = [];
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text);
    else if (toImageBlock(part) !== undefined) images.push(part);
    else if (fallback === "describe")
      texts.push(`[An image (${describeType(part)}) was omitted: it cannot be read.]`);
    else throw unreadableImage(part);
  }
  return { prompt: texts.filter((part) => part !== "").join("\n"), images };
}

function unreadableImage(part: UserContentPart): CodedError {
  return new CodedError(
    "bad_image",
    `Claude Code cannot read the image (${describeType(part)}); send a PNG, JPEG, GIF or WebP, or set attachmentFallback: "describe" for this provider to send the message without it`,
  );
}

function describeType(part: UserContentPart): string {
  const url = part.type === "image_url" ? part.image_url.url : "";
  return (
    /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] ?? /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "unknown type"
  );
}
