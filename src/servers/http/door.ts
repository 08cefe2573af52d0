// The way to HTTP for the Unix socket: the server is loaded when the first HTTP client comes, so that a daemon
// nobody asks over HTTP starts without it.
import type { Socket } from "node:net";
import { messageOf } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { replyAndClose } from "./plain.ts";
import type { HttpServer } from "./server.ts";
import { readToken } from "./token.ts";
import type { HttpContext, HttpLimits } from "./types.ts";

export interface HttpDoor {
  /** A connection whose first byte was a capital letter; `first` is what was read from it. */
  take(socket: Socket, first: Buffer): void;
  dismiss(): void;
  close(): Promise<void>;
}

export function createHttpDoor(context: HttpContext, limits: HttpLimits, load = loadServer): HttpDoor {
  let loading: Promise<HttpServer> | undefined;
  let isDismissed = false;
  return {
    take(socket, first) {
      socket.pause();
      socket.unshift(first);
      loading ??= load(context, limits);
      loading.then(
        (http) => {
          if (isDismissed) http.dismiss();
          if (socket.destroyed) return;
          http.take(socket);
          socket.resume();
        },
        (error: unknown) => {
          loading = undefined; // the next one tries again
          context.log.error("http.load_failed", { message: messageOf(error) });
          if (!socket.destroyed) tellNoServer(socket);
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
    token: () => tokenNow(limits.tokenFile, context.log),
    limits,
  });
  // Node looks at its time limits only once a server listens, and this one gets its sockets from us.
  http.server.emit("listening");
  return http;
}

/** Nobody needs one here: a bad file is told, and then no token is right. One that is made or replaced later counts. */
function tokenNow(file: string, log: Log): string | undefined {
  try {
    return readToken(file);
  } catch (error) {
    log.warn("http.token_unusable", { message: messageOf(error) });
    return undefined;
  }
}

function tellNoServer(socket: Socket): void {
  const message = "the HTTP server cannot be loaded; the daemon's log says why";
  replyAndClose(socket, {
    status: 500,
    headers: { "content-type": "application/json; charset=utf-8" },
    text: `${JSON.stringify({ error: { code: "internal", message } })}\n`,
  });
  socket.resume(); // thrown away, so that the end is seen
}
