// Listeners for clients: the Unix socket, which also serves HTTP, and the loopback port, opened at start or with the first
// link to the dashboard.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toMessage } from "../base/coded-error.ts";
import {
  createHttpDoor,
  HTTP_DEFAULTS,
  type HttpContext,
  type HttpLimits,
  Loopback,
} from "../servers/http/index.ts";
import { listenOnSocket } from "../servers/socket/index.ts";
import type { Listening, ServerContext } from "../servers/types.ts";
import type { HttpAddress } from "./banner.ts";
import type { Config } from "./config.ts";
import { createKeptPort } from "./kept-port.ts";

const OUTBOX_BYTES = 1024 * 1024;
const HELLO_TIMEOUT_MS = 5_000;

export interface WaysIn {
  listening: Listening;
  /** Absent without `--http` and `--web`. */
  http?: HttpAddress;
  /** A link to the dashboard, for the user who starts the daemon. */
  webLink(): Promise<string>;
  /** The next daemon does not open the same loopback port by itself. */
  forgetPort(): void;
}

export interface WaysInParts {
  webFiles: URL;
  /** The loopback port of the daemon that this one replaces. */
  replacedPort?: number | undefined;
  /** What is more urgent than loading the HTTP server. */
  after?: Promise<unknown> | undefined;
}

export async function openWaysIn(
  config: Config,
  context: ServerContext & Omit<HttpContext, "web">,
  { webFiles, replacedPort, after }: WaysInParts,
): Promise<WaysIn> {
  const shared = {
    maxConnections: config.max_connections,
    slowConsumerMs: config.slow_consumer_s * 1000,
    outboxBytes: OUTBOX_BYTES,
  };
  const limits: HttpLimits = {
    ...HTTP_DEFAULTS,
    ...shared,
    maxBodyBytes: config.max_line_bytes,
    tokenFile: join(config.state_dir, "http-token"),
  };
  const kept = createKeptPort(join(config.state_dir, "http-port"), context.log);
  const loopback = new Loopback(context, {
    limits,
    port: config.http_port,
    webDirectory: fileURLToPath(webFiles),
    onOpen: (port) => kept.keep(port),
  });
  // First: a daemon that cannot bind the socket touches nothing else.
  const socket = await listenOnSocket(
    {
      ...shared,
      path: config.socket_path,
      maxLineBytes: config.max_line_bytes,
      helloTimeoutMs: HELLO_TIMEOUT_MS,
      after,
    },
    context,
    createHttpDoor(loopback.context, limits, { after }),
  );
  context.metrics.gauge(
    "blemees_socket_outbox_bytes",
    "Bytes on the Unix socket that clients have not read yet.",
    () => socket.waitingBytes(),
  );
  const listening = both(loopback, socket);
  const ways = {
    listening,
    webLink: async (): Promise<string> => (await loopback.link()).url,
    forgetPort: () => kept.forget(),
  };
  // Open tabs of the dashboard reconnect there.
  const earlier = replacedPort ?? kept.read();
  const hasChoice = config.http_port === undefined || config.http_port === 0;
  const reopen = async (port: number): Promise<void> => {
    await loopback
      .open(port)
      .catch((error: unknown) => context.log.warn("http.reopen_failed", { message: toMessage(error) }));
  };
  const isWanted = config.http_port !== undefined || config.web;
  const urgent = isWanted ? undefined : after;
  const reopening =
    hasChoice && earlier !== undefined ? Promise.resolve(urgent).then(() => reopen(earlier)) : undefined;
  if (!isWanted) return ways;
  await reopening;
  try {
    const { port } = await loopback.open();
    return { ...ways, http: { port, tokenFile: limits.tokenFile } };
  } catch (error) {
    await socket.close();
    throw error;
  }
}

function both(first: Listening, last: Listening): Listening {
  return {
    dismiss() {
      first.dismiss();
      last.dismiss();
    },
    async close() {
      await first.close();
      await last.close();
    },
  };
}
