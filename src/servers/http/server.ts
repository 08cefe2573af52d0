// The HTTP server: checks every request before routing, limits what a client can make us hold, and drops clients that stop
// reading. Connections come from its own listener (listen.ts) or from the Unix socket (door.ts).
import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { CodedError, readErrno } from "../../base/coded-error.ts";
import { StallDetector } from "../../base/outbox.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import { type Caller, shutdownError } from "../../sessions/index.ts";
import { AcpDoor } from "./acp-door.ts";
import { oversizeError } from "./body.ts";
import { ChangeFeed } from "./changes.ts";
import { dispatch } from "./dispatch.ts";
import { toErrorReply } from "./errors.ts";
import { findRefusal, SECURITY_HEADERS, type TokenSource } from "./guard.ts";
import { InOrder } from "./in-order.ts";
import { createOpenApi } from "./openapi.ts";
import { replyAndClose } from "./plain.ts";
import { ROUTES } from "./routes/index.ts";
import { Streams } from "./streams.ts";
import { identifyTcpPeer } from "./tcp-peer.ts";
import type { HttpContext, HttpLimits, Place } from "./types.ts";
import { findAccess } from "./web/access.ts";

const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** How long a refused client may keep sending before the connection is closed. */
const LINGER_MS = 500;
/** Refusals logged per window: a client without a token must not fill the disk with log lines. */
const MAX_LOGGED_REFUSALS = 100;
const REFUSAL_WINDOW_MS = 60_000;
/** Status and message of parser errors; others are 400. */
const PARSE_ERRORS: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: `the header exceeds ${MAX_HEADER_BYTES} bytes` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request did not arrive in time" },
};

export interface HttpServer {
  readonly server: Server;
  /** Open sockets. */
  readonly connections: number;
  /** Serves a socket accepted elsewhere; bytes already read have been put back. */
  take(socket: Socket, caller: () => Caller): void;
  /** Ends streams and waits; from now on every request gets `daemon_shutdown`. */
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
  setMaxListeners(0, dismissed.signal); // one per request in progress
  const sockets = new Set<Socket>();
  const callers = new WeakMap<Socket, () => Caller | Promise<Caller>>();
  const streams = new Streams(limits);
  const changes = new ChangeFeed(context.manager);
  const order = new InOrder();
  const refusals = new RateLimit(MAX_LOGGED_REFUSALS, REFUSAL_WINDOW_MS);
  let openApi: object | undefined;
  const services = {
    ...context,
    streams,
    changes,
    connections: () => sockets.size,
    openApi: () => {
      openApi ??= createOpenApi(ROUTES);
      return openApi;
    },
  };
  const { maxBodyBytes } = limits;

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: limits.checkEveryMs,
      noDelay: true,
      requireHostHeader: false, // checked by guard.ts, with a message
    },
    (incoming, outgoing) =>
      inTurn(incoming, outgoing, (refusal) => {
        // Connections are not kept alive during shutdown.
        if (refusal !== undefined) refuse(incoming, outgoing, refusal, { isLast: dismissed.signal.aborted });
        else serve(incoming, outgoing);
      }),
  );
  // Expect: 100-continue. The head alone decides whether the client may send its body.
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
      const unmet = new CodedError("invalid_message", "the Expect header supports only 100-continue");
      if (refusal !== undefined) refuse(incoming, outgoing, refusal, { isLast: true });
      else refuse(incoming, outgoing, unmet, { isLast: true, as: 417 });
    }),
  );

  const acp = context.acp === undefined ? undefined : new AcpDoor(context.acp, log);
  server.on("upgrade", (incoming, socket, head) => void upgrade(incoming, socket as Socket, head));

  /** The same checks as for a request with a token; a refused client gets a reply, as in HTTP. */
  async function upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const fault = dismissed.signal.aborted
        ? shutdownError()
        : findRefusal(incoming, options.place(), options.token, "token");
      if (fault !== undefined) throw fault;
      if (acp === undefined) throw new CodedError("not_found", "this daemon accepts no WebSockets");
      const { isAgent } = await findCaller(socket);
      acp.accept(incoming, socket, head, acp.check(incoming, isAgent));
    } catch (error) {
      if (refusals.allow(Date.now())) log.info("http.refused", { code: readErrno(error), method: "GET" });
      replyAndClose(socket, toErrorReply(error, log));
    }
  }

  /** Handles a request after the earlier ones on its connection were answered. Oversize requests are refused unread. */
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
    if (dismissed.signal.aborted) return shutdownError();
    const access = findAccess(incoming, context.web.files);
    return (
      findRefusal(incoming, options.place(), options.token, access) ?? checkLength(incoming, maxBodyBytes)
    );
  }

  function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) outgoing.setHeader(name, value);
    void dispatch(incoming, outgoing, {
      routes: ROUTES,
      caller: findCaller,
      services,
      maxBodyBytes,
      dismissed: dismissed.signal,
    });
  }

  /** Identified with the first request that needs it, once per connection. */
  function findCaller(socket: Socket): Caller | Promise<Caller> {
    const look = callers.get(socket) ?? (() => identifyTcpPeer(socket, context.identify));
    const caller = look();
    callers.set(socket, () => caller);
    return caller;
  }

  function refuse(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    error: CodedError,
    { isLast, as }: { isLast: boolean; as?: number },
  ): void {
    outgoing.end(startRefusal(incoming, outgoing, error, isLast, as));
  }

  /**
   * Sends the reply at once, then reads and discards the body for a moment before closing: closing a connection while data
   * arrives would lose the reply.
   */
  function refuseUnread(incoming: IncomingMessage, outgoing: ServerResponse, error: CodedError): void {
    outgoing.write(startRefusal(incoming, outgoing, error, true));
    const timer = setTimeout(() => outgoing.end(), LINGER_MS);
    incoming.once("close", () => {
      clearTimeout(timer);
      outgoing.end();
    });
    incoming.resume();
  }

  /** Logs the refusal and writes its head; returns the body. */
  function startRefusal(
    { method }: IncomingMessage,
    outgoing: ServerResponse,
    error: CodedError,
    isLast: boolean,
    as?: number,
  ): string {
    if (refusals.allow(Date.now())) log.info("http.refused", { code: error.code, method });
    const { status, headers, text } = toErrorReply(error, log, as);
    const more = { "content-length": Buffer.byteLength(text), ...(isLast ? { connection: "close" } : {}) };
    outgoing.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...more });
    return text;
  }

  server.on("connection", (socket) => {
    socket.setMaxListeners(0); // one per request in progress
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("clientError", (error, socket) => answerParseError(error, socket as Socket));

  const stalls = new StallDetector(limits.slowConsumerMs / limits.checkEveryMs);
  const checking = setInterval(() => {
    for (const socket of sockets) {
      if (!stalls.isStalled(socket)) continue;
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
    take(socket, caller) {
      callers.set(socket, caller);
      server.emit("connection", socket);
    },
    dismiss() {
      dismissed.abort(shutdownError());
      streams.close();
      acp?.close();
    },
    async close() {
      clearInterval(checking);
      streams.close();
      changes.close();
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };

  function answerParseError(error: Error, socket: Socket): void {
    if (!socket.writable || readErrno(error) === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const { status, message } = PARSE_ERRORS[readErrno(error) ?? ""] ?? {
      status: 400,
      message: "not valid HTTP/1.1",
    };
    replyAndClose(socket, toErrorReply(new CodedError("invalid_message", message), log, status));
  }
}

/** Decided from the head, before any of the body is read. */
function checkLength({ headers }: IncomingMessage, maxBytes: number): CodedError | undefined {
  return Number(headers["content-length"] ?? 0) > maxBytes ? oversizeError(maxBytes) : undefined;
}
