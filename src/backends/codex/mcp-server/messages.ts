// The stdout of `codex mcp-server` → JSON-RPC messages, one per line. The framing of other MCP servers is recognized,
// not supported.
import type { JsonObject } from "../../../base/json.ts";
import { FrameReader, type LineAside } from "../../../base/json-lines.ts";

export interface MessageHandlers {
  message(message: JsonObject): void;
  skipped(size: number, reason: string, aside: LineAside | undefined): void;
  /** It frames its messages with headers: nothing that follows can be read. Reported once. */
  foreignFraming(): void;
}

const HEADER = "Content-Length:";

export function createMessageReader(maxLineBytes: number, handlers: MessageHandlers): FrameReader {
  let isForeign = false;
  return new FrameReader(maxLineBytes, {
    limitName: "max_line_bytes",
    frame: (frame) => {
      if (!isForeign) handlers.message(frame);
    },
    skipped: (size, reason, aside) => {
      if (!isForeign) handlers.skipped(size, reason, aside);
    },
    notJson: (text) => {
      if (isForeign || !text.startsWith(HEADER)) return isForeign;
      isForeign = true;
      handlers.foreignFraming();
      return true;
    },
  });
}
