// Converts the blocks of an editor's prompt to a message for the agent. Files that the editor attaches become text, because
// not every agent takes them as blocks.
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { ContentBlock as MessageBlock, UserMessage } from "../../protocol/content.ts";
import { invalidParamsError } from "./errors.ts";

/** Throws for blocks that no agent gets. */
export function toUserMessage(blocks: readonly ContentBlock[]): UserMessage {
  const content = blocks.map(toBlock);
  const isEmpty = content.every(({ type, text }) => type === "text" && String(text).trim() === "");
  if (isEmpty) throw invalidParamsError("the prompt is empty: it needs a block with text or an image");
  return { role: "user", content: joinTexts(content) };
}

function toBlock(block: ContentBlock): MessageBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return {
        type: "image",
        source: { type: "base64", media_type: block.mimeType, data: block.data },
      };
    case "resource_link":
      return { type: "text", text: `@${toPath(block.uri)}` };
    case "resource":
      return { type: "text", text: formatResource(block.resource) };
    default:
      throw invalidParamsError(
        `prompts with blocks of type "${block.type}" are not supported: send text, images, links or files`,
      );
  }
}

function formatResource(resource: { uri: string; text?: string }): string {
  const path = toPath(resource.uri);
  if (resource.text === undefined) return `@${path}`;
  return `@${path}\n<context ref=${JSON.stringify(path)}>\n${resource.text}\n</context>`;
}

function toPath(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri; // not a path of this machine
  }
}

/** A text alone is a plain string: some agents see commands only there. */
function joinTexts(blocks: MessageBlock[]): string | MessageBlock[] {
  const texts = blocks.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []));
  return texts.length === blocks.length ? texts.join("\n") : blocks;
}
