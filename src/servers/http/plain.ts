// Writes a complete reply to a socket that has no response object: the request was invalid, or the server is missing.
import type { Socket } from "node:net";
import { SECURITY_HEADERS } from "./guard.ts";

/** How long the client may take to read the reply. */
const LINGER_MS = 1_000;

export interface PlainReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Sends the reply and closes the connection. */
export function replyAndClose(socket: Socket, { status, headers, text }: PlainReply): void {
  const lines = Object.entries({ ...SECURITY_HEADERS, ...headers, connection: "close" });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = Buffer.byteLength(text);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}content-length: ${length}\r\n\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
