// The HTTP server itself: guards every request before routing, bounds what clients may hold, and drops who takes
// nothing. It gets its connections from a listener of its own (listen.ts) or from the Unix socket (door.ts).
import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";
import { progressMark } from "../../base/outbox.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import { createApp } from "./app.ts";
import { oversizeError } from "./body.ts";
import { ChangeFeed } from "./changes.ts";
import { errorReply } from "./errors.ts";
import { findRefusal, SECURITY_HEADERS, type TokenSource } from "./guard.ts";
import { InOrder } from "./in-order.ts";
import { lostError } from "./lost.ts";
import { openApiDocument } from "./openapi.ts";
import { replyAndClose } from "./plain.ts";
import { METHODS } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import { Streams } from "./streams.ts";
import type { HttpContext, HttpLimits, Place } from "./types.ts";
import { accessOf } from "./web/access.ts";

const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** How long a client that was refused may go on sending before the connection is closed. */
const LINGER_MS = 500;
/** So many refusals a minute are told: whoever has no token must not fill the disk with them. */
const MAX_TOLD = 100;
const TOLD_WINDOW_MS = 60_000;
/** What the parser refuses, in words and with a status of its own. */
const PARSE_FAULTS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: `the header has more than ${MAX_HEADER_BYTES} bytes` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request did not arrive in time" },
};

export interface HttpServer {
  readonly server: Server;
  /** Sockets that are open. */
  readonly connections: number;
  /** A socket that was accepted elsewhere; what was read from it has been put back. */
  take(socket: Socket): void;
  /** Ends streams and waits; every request from now on gets `daemon_shutdown`. */
  dismiss(): void;
  close(): Promise<void>;
}

export interface HttpServerOptions {
  place(): Place;
  token: TokenSource;
  limits: HttpLimits;
}

export function createHttpServer(context: HttpContext, options: HttpServerOptions): HttpServer {
  const { limits } = options;
  const { log } = context;
  const dismissed = new AbortController();
  setMaxListeners(0, dismissed.signal); // one for each request under way
  const sockets = new Map<Socket, Progress>();
  const streams = new Streams(limits);
  const changes = new ChangeFeed(context.manager);
  const order = new InOrder();
  const telling = new RateLimit(MAX_TOLD, TOLD_WINDOW_MS);
  let openApi: object | undefined;
  const app = createApp({
    routes: ROUTES,
    services: {
      ...context,
      streams,
      changes,
      connections: () => sockets.size,
      openApi: () => {
        openApi ??= openApiDocument(ROUTES);
        return openApi;
      },
    },
    maxBodyBytes: limits.maxBodyBytes,
    dismissed: dismissed.signal,
  });
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      const message = `the request cannot be read: ${messageOf(error)}`;
      const { status, headers, text } = errorReply(new CodedError("invalid_message", message), log);
      return new Response(text, { status, headers });
    },
  });

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: limits.checkEveryMs,
      noDelay: true,
      requireHostHeader: false, // the guard's business, which says why
    },
    (incoming, outgoing) =>
      inTurn(incoming, outgoing, (refusal) => {
        // A daemon that stops keeps nobody.
        if (refusal !== undefined) refuse(incoming, outgoing, refusal, { isLast: dismissed.signal.aborted });
        else serve(incoming, outgoing);
      }),
  );
  // A client that waits before it sends its body: the head alone decides whether it is told to go on.
  server.on("checkContinue", (incoming, outgoing) =>
    inTurn(incoming, outgoing, (refusal) => {
      if (refusal !== undefined) {
        refuse(incoming, outgoing, refusal, { isLast: true });
        return;
      }
      outgoing.writeContinue();
      serve(incoming, outgoing);
    }),
  );
  server.on("checkExpectation", (incoming, outgoing) =>
    inTurn(incoming, outgoing, (refusal) => {
      const unmet = new CodedError("invalid_message", "the header Expect can only be 100-continue");
      if (refusal !== undefined) refuse(incoming, outgoing, refusal, { isLast: true });
      else refuse(incoming, outgoing, unmet, { isLast: true, as: 417 });
    }),
  );

  /** Handles a request when those before it on its connection have their replies; a head too large to follow at once. */
  function inTurn(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    handle: (refusal: CodedError | undefined) => void,
  ): void {
    order.add(incoming.socket, outgoing, () => {
      const refusal = findFault(incoming);
      if (refusal?.code === "oversize_message") refuseUnread(incoming, outgoing, refusal);
      else handle(refusal);
    });
  }

  function findFault(incoming: IncomingMessage): CodedError | undefined {
    if (dismissed.signal.aborted) return goodBye();
    const access = accessOf(incoming, context.web.files);
    return (
      findRefusal(incoming, options.place(), options.token, access) ??
      wrongMethod(incoming) ??
      wrongLength(incoming, limits.maxBodyBytes)
    );
  }

  function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) outgoing.setHeader(name, value);
    void listener(incoming, outgoing);
  }

  function refuse(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    error: CodedError,
    { isLast, as }: { isLast: boolean; as?: number },
  ): void {
    if (telling.allow(Date.now())) log.info("http.refused", { code: error.code, method: incoming.method });
    const { status, headers, text } = errorReply(error, log, as);
    const last = isLast ? { connection: "close" } : {};
    outgoing.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...last });
    outgoing.end(text);
  }

  /**
   * Sends the whole reply at once and reads the body away for a moment before it closes: a connection that is closed while
   * something comes in takes the reply with it.
   */
  function refuseUnread(incoming: IncomingMessage, outgoing: ServerResponse, error: CodedError): void {
    if (telling.allow(Date.now())) log.info("http.refused", { code: error.code, method: incoming.method });
    const { status, headers, text } = errorReply(error, log);
    const length = { "content-length": Buffer.byteLength(text), connection: "close" };
    outgoing.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...length });
    outgoing.write(text);
    const timer = setTimeout(() => outgoing.end(), LINGER_MS);
    incoming.once("close", () => {
      clearTimeout(timer);
      outgoing.end();
    });
    incoming.resume();
  }

  server.on("connection", (socket) => {
    socket.setMaxListeners(0); // one for each request that is under way
    sockets.set(socket, { mark: "", checks: 0 });
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("clientError", (error, socket) => answerFault(error, socket as Socket));

  const checking = setInterval(() => {
    for (const socket of findStalled(sockets, limits.slowConsumerMs / limits.checkEveryMs)) {
      log.warn("http.slow_consumer", { streams: streams.size });
      socket.destroy();
    }
  }, limits.checkEveryMs);
  checking.unref();

  return {
    server,
    get connections() {
      return sockets.size;
    },
    take: (socket) => void server.emit("connection", socket),
    dismiss() {
      dismissed.abort(goodBye());
      streams.close();
    },
    async close() {
      clearInterval(checking);
      streams.close();
      changes.close();
      for (const socket of sockets.keys()) socket.destroy();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };

  function answerFault(error: Error, socket: Socket): void {
    if (!socket.writable || errnoOf(error) === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const fault = PARSE_FAULTS[errnoOf(error) ?? ""] ?? { status: 400, message: "this is not HTTP/1.1" };
    const coded = new CodedError("invalid_message", fault.message);
    replyAndClose(socket, errorReply(coded, log, fault.status));
  }
}

/** No route has it. Not left to the router, which would answer HEAD as a GET and open a stream for it. */
function wrongMethod({ method = "", url = "" }: IncomingMessage): CodedError | undefined {
  const isKnown = METHODS.some((known) => known.toUpperCase() === method);
  return isKnown ? undefined : lostError(method, url.split("?")[0] ?? "", ROUTES);
}

/** Refused by its head, before anything of it is read. */
function wrongLength({ headers }: IncomingMessage, maxBytes: number): CodedError | undefined {
  return Number(headers["content-length"] ?? 0) > maxBytes ? oversizeError(maxBytes) : undefined;
}

interface Progress {
  /** How far the other side had got when we last looked, and how often we have seen it there. */
  mark: string;
  checks: number;
}

/**
 * Sockets for which something waits and whose other side has taken nothing of it for so many checks. Checks, not
 * seconds: a client is not to blame while we are the ones who did not get to run.
 */
function findStalled(sockets: Map<Socket, Progress>, maxChecks: number): Socket[] {
  return [...sockets].flatMap(([socket, progress]) => {
    const mark = progressMark(socket);
    const isStuck = socket.writableLength > 0 && mark === progress.mark;
    sockets.set(socket, { mark, checks: isStuck ? progress.checks + 1 : 0 });
    return isStuck && progress.checks + 1 >= maxChecks ? [socket] : [];
  });
}

function goodBye(): CodedError {
  return new CodedError("daemon_shutdown", "the daemon is shutting down");
}
