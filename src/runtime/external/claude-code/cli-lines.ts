// The stdout of `claude` → its messages. A line that cannot be read is told, without its content, and skipped.
import type { JsonObject } from "../../../base/json.ts";
import { FrameReader } from "../../../base/json-lines.ts";

export interface CliLineHandlers {
  message(message: JsonObject): void;
  skipped(reason: string): void;
}

/** A tool's result with an image is a few MB; nothing that a turn needs is longer. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export function readCliLines(handlers: CliLineHandlers, maxLineBytes = MAX_LINE_BYTES): FrameReader {
  const skipped = (size: number, reason: string) =>
    handlers.skipped(`a line of ${size} characters: ${reason}`);
  return new FrameReader(maxLineBytes, {
    frame: (message, size) => {
      if (typeof message["type"] === "string") handlers.message(message);
      else skipped(size, "it is no message");
    },
    skipped,
  });
}
