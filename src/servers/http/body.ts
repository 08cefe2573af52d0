// Reads a request body: bounded, valid UTF-8, one JSON object.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { CodedError } from "../../base/coded-error.ts";
import { type JsonObject, parseUntrusted } from "../../base/json.ts";

/** How long to wait for the rest of an oversize body. */
const DRAIN_MS = 2_000;

/** An absent body is an empty object; the route's schema says what is required. */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<JsonObject> {
  const bytes = await readBytes(incoming, maxBytes);
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw new CodedError("invalid_message", "the body is not UTF-8");
  const text = bytes.toString("utf8");
  if (!/^\s*\{/.test(text)) throw new CodedError("invalid_message", "the body must be one JSON object");
  return parseUntrusted(text);
}

export function oversizeError(maxBytes: number): CodedError {
  return new CodedError("oversize_message", `the body exceeds ${maxBytes} bytes (max_line_bytes)`);
}

function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The rest is read and discarded before the reply: closing a connection while data arrives would lose the reply.
      incoming.off("data", take);
      incoming.resume();
      chunks.length = 0;
      const refuse = (): void => reject(oversizeError(maxBytes));
      const timer = setTimeout(refuse, DRAIN_MS);
      incoming.once("close", () => clearTimeout(timer));
      incoming.prependOnceListener("end", refuse);
    };
    incoming.on("data", take);
    incoming.once("end", () => resolve(Buffer.concat(chunks)));
    const fail = (): void => reject(new CodedError("invalid_message", "the body ended early"));
    incoming.once("error", fail);
    incoming.once("close", fail);
  });
}
