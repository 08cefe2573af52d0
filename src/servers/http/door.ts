// The way to HTTP for the Unix socket: the server is loaded when the first HTTP client comes, so that a daemon
// nobody asks over HTTP starts without it.
import type { Socket } from "node:net";
import { messageOf } from "../../base/coded-error.ts";
import type { HttpServer } from "./server.ts";
import { readToken } from "./token.ts";
import type { HttpContext, HttpLimits } from "./types.ts";

export interface HttpDoor {
  /** A connection whose first byte was a capital letter; `first` is what was read from it. */
  take(socket: Socket, first: Buffer): void;
  dismiss(): void;
  close(): Promise<void>;
}

export function createHttpDoor(context: HttpContext, limits: HttpLimits): HttpDoor {
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
          socket.destroy();
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

async function load(context: HttpContext, limits: HttpLimits): Promise<HttpServer> {
  const { createHttpServer } = await import("./server.ts");
  const http = createHttpServer(context, {
    place: () => ({ kind: "unix" }),
    token: readToken(limits.tokenFile),
    limits,
  });
  // Node looks at its time limits only once a server listens, and this one gets its sockets from us.
  http.server.emit("listening");
  return http;
}
