// HTTP on the Unix socket. The server is loaded with the first HTTP client, so that a daemon without any starts faster.
import type { Socket } from "node:net";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Caller } from "../../sessions/index.ts";
import { replyAndClose } from "./plain.ts";
import type { HttpServer } from "./server.ts";
import { readToken } from "./token.ts";
import type { HttpContext, HttpLimits } from "./types.ts";

export interface HttpDoor {
  /** Takes a connection whose first byte was a capital letter; `first` is the data read so far. */
  take(socket: Socket, first: Buffer, caller: () => Caller): void;
  dismiss(): void;
  close(): Promise<void>;
}

/** `after`: what is more urgent than loading the server. */
export function createHttpDoor(
  context: HttpContext,
  limits: HttpLimits,
  { load = loadServer, after }: { load?: typeof loadServer; after?: Promise<unknown> | undefined } = {},
): HttpDoor {
  let loading: Promise<HttpServer> | undefined;
  let isDismissed = false;
  return {
    take(socket, first, caller) {
      socket.pause();
      socket.unshift(first);
      loading ??= after === undefined ? load(context, limits) : after.then(() => load(context, limits));
      loading.then(
        (http) => {
          if (isDismissed) http.dismiss();
          if (socket.destroyed) return;
          http.take(socket, caller);
          socket.resume();
        },
        (error: unknown) => {
          loading = undefined; // retried with the next client
          context.log.error("http.load_failed", { message: toMessage(error) });
          if (!socket.destroyed) replyUnavailable(socket);
        },
      );
    },
    dismiss() {
      isDismissed = true;
      void loading?.then(
        (http) => http.dismiss(),
        () => undefined,
      );
    },
    async close() {
      const http = await loading?.catch(() => undefined);
      await http?.close();
    },
  };
}

async function loadServer(context: HttpContext, limits: HttpLimits): Promise<HttpServer> {
  const { createHttpServer } = await import("./load.ts");
  const http = createHttpServer(context, {
    place: () => ({ kind: "unix" }),
    token: () => readTokenOrWarn(limits.tokenFile, context.log),
    limits,
  });
  // Node checks its timeouts only while a server is listening, and this one gets its sockets from us.
  http.server.emit("listening");
  return http;
}

/** The token is optional here: an unusable file is logged, and no token matches. The file is read for every use. */
function readTokenOrWarn(file: string, log: Log): string | undefined {
  try {
    return readToken(file);
  } catch (error) {
    log.warn("http.token_unusable", { message: toMessage(error) });
    return undefined;
  }
}

function replyUnavailable(socket: Socket): void {
  const message = "the HTTP server could not be loaded; see the daemon's log";
  replyAndClose(socket, {
    status: 500,
    headers: { "content-type": "application/json; charset=utf-8" },
    text: `${JSON.stringify({ error: { code: "internal", message } })}\n`,
  });
  socket.resume(); // discards input, so that the end of the stream is seen
}
