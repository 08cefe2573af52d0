// The loopback listener (`--http`): the only one that pages in a browser could reach. API routes need the token.
import type { AddressInfo } from "node:net";
import { CodedError, readErrno, toMessage } from "../../base/coded-error.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import type { Listening } from "../types.ts";
import { createHttpServer } from "./server.ts";
import { ensureToken } from "./token.ts";
import type { HttpContext, HttpLimits } from "./types.ts";

const ADDRESS = "127.0.0.1";
/** Refused connections and accept failures are logged this often: they come in bursts, and any user can cause them. */
const LOG_EVERY_MS = 10_000;

export interface HttpListening extends Listening {
  port: number;
  /** For the user at the terminal. Never logged. */
  token: string;
}

/** Port 0 is any free port. */
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
  const dropping = new RateLimit(1, LOG_EVERY_MS);
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
  // No file descriptors left: this client is refused, all others continue.
  const failures = new RateLimit(1, LOG_EVERY_MS);
  server.on("error", ({ message }) => {
    if (failures.allow(Date.now())) context.log.warn("http.accept_failed", { message });
  });
  port = (server.address() as AddressInfo).port;
  context.log.info("http.listen", { port, token_file: options.tokenFile });
  return { port, token, dismiss: () => http.dismiss(), close: () => http.close() };
}

function explain(port: number, cause: Error): CodedError {
  const why =
    readErrno(cause) === "EADDRINUSE"
      ? "is in use; choose another one (blemeesd --http N, sm web --port N)"
      : `cannot be used: ${toMessage(cause)}`;
  return new CodedError("internal", `port ${port} on ${ADDRESS} ${why}`, { cause });
}
