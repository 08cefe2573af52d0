// The loopback listener (`--http`): the one way in that pages in a browser could reach. Every route needs the token.
import type { AddressInfo } from "node:net";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import type { Listening } from "../types.ts";
import { createHttpServer } from "./server.ts";
import { ensureToken } from "./token.ts";
import type { HttpContext, HttpLimits } from "./types.ts";

const ADDRESS = "127.0.0.1";
/** That clients cannot be accepted is told so often: it happens to many at once, and anybody can make it happen. */
const TELL_EVERY_MS = 10_000;

export interface HttpListening extends Listening {
  port: number;
  /** For a person at the terminal; never for the log. */
  token: string;
}

/** Port 0 is any free one. */
export async function listenOnHttp(
  options: HttpLimits & { port: number },
  context: HttpContext,
): Promise<HttpListening> {
  const token = ensureToken(options.tokenFile);
  let port = options.port;
  const http = createHttpServer(context, {
    place: () => ({ kind: "tcp", port }),
    token: () => token,
    limits: options,
  });
  const { server } = http;
  server.maxConnections = options.maxConnections;
  const dropping = new RateLimit(1, TELL_EVERY_MS);
  server.on("drop", () => {
    if (!dropping.allow(Date.now())) return;
    context.log.warn("connection.refused", { connections: http.connections });
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => reject(explain(options.port, cause));
    server.once("error", fail);
    server.listen({ host: ADDRESS, port: options.port }, () => {
      server.off("error", fail);
      resolve();
    });
  });
  // No file descriptors left: that client is refused, everybody else goes on.
  const telling = new RateLimit(1, TELL_EVERY_MS);
  server.on("error", ({ message }) => {
    if (telling.allow(Date.now())) context.log.warn("http.accept_failed", { message });
  });
  port = (server.address() as AddressInfo).port;
  context.log.info("http.listen", { port, token_file: options.tokenFile });
  return { port, token, dismiss: () => http.dismiss(), close: () => http.close() };
}

function explain(port: number, cause: Error): CodedError {
  const why =
    errnoOf(cause) === "EADDRINUSE"
      ? "is taken; choose another one (blemeesd --http N, sm web --port N)"
      : `cannot be used: ${messageOf(cause)}`;
  return new CodedError("internal", `port ${port} on ${ADDRESS} ${why}`, { cause });
}
