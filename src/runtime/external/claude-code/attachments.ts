// A message as Claude Code takes it: its words as they are, its images, and what becomes of those that it does not take.
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
 * Claude Code reads what is named by "@path" in the words of a message by itself, wherever it is, and nobody is asked:
 * words that another agent or a web page wrote, too. It looks at the last block only (2.1.197), and not at what is
 * `client_composed` (from 2.1.248 on).
 */
const MENTION = /(?:^|[^\w])@\S/;
const NOT_ATTACHED = "[Files that are named with @ are not attached: read those that you need.]";
const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

export function userTurn({ prompt, images }: Attached): UserTurn {
  const isNaming = MENTION.test(prompt);
  const blocks = [
    ...images.flatMap((part) => imageBlock(part) ?? []),
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

/** Undefined: Claude Code cannot take it. */
export function imageBlock(part: UserContentPart): ImageBlock | undefined {
  if (part.type !== "image_url") return undefined;
  const { url } = part.image_url;
  if (/^https?:\/\//i.test(url)) return { type: "image", source: { type: "url", url } };
  const [, media_type, data] = DATA_URL.exec(url) ?? [];
  if (media_type === undefined || data === undefined) return undefined;
  return { type: "image", source: { type: "base64", media_type, data } };
}

export interface Attached {
  /** The words, with what there is to say of images that stay behind. */
  prompt: string;
  images: readonly UserContentPart[];
}

/** Throws `bad_image` where an image cannot be taken and the message is not to go without it. */
export function attach(
  text: string,
  parts: readonly UserContentPart[],
  fallback: ClaudeCodeConfig["attachmentFallback"],
): Attached {
  const words = [text];
  const images: UserContentPart[] = [];
  for (const part of parts) {
    if (part.type === "text") words.push(part.text);
    else if (imageBlock(part) !== undefined) images.push(part);
    else if (fallback === "describe")
      words.push(`[There was an image here (${kindOf(part)}) that cannot be shown.]`);
    else throw notTaken(part);
  }
  return { prompt: words.filter((word) => word !== "").join("\n"), images };
}

function notTaken(part: UserContentPart): CodedError {
  return new CodedError(
    "bad_image",
    `Claude Code cannot take the image (${kindOf(part)}); send a PNG, JPEG, GIF or WebP, or set attachmentFallback: "describe" for this provider to go on without it`,
  );
}

function kindOf(part: UserContentPart): string {
  const url = part.type === "image_url" ? part.image_url.url : "";
  return (
    /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] ?? /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? "of no known kind"
  );
}
