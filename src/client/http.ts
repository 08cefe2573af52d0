// The HTTP API over the daemon's Unix socket.
import { defined } from "../base/values.ts";
import type { ToolReply, ToolsReply } from "../protocol/wire/http-tools.ts";
import { findSocket } from "./discover.ts";
import { HttpApi } from "./http/api.ts";
import { exchangeJson } from "./http/exchange.ts";
import type { HttpApiOptions } from "./http/options.ts";
import { makeRandomKey } from "./http/random-key.ts";
import { DEFAULT_RETRY, retry } from "./http/retry.ts";
import type { Transport } from "./http/transport.ts";
import { createUnixTransport } from "./http/unix-transport.ts";

export interface HttpOptions extends HttpApiOptions {
  /** Path of the daemon's socket; defaults to the standard location. */
  socket?: string;
}

export class HttpClient extends HttpApi {
  readonly socket: string;
  readonly #transport: Transport;
  readonly #session_id: string | undefined;

  constructor({ socket, ...options }: HttpOptions = {}) {
    const path = findSocket(socket);
    const transport = createUnixTransport(path);
    super(transport, options);
    this.#transport = transport;
    this.socket = path;
    this.#session_id = options.session_id;
  }

  /** Tools for managing agents. */
  tools(): Promise<ToolsReply> {
    return exchangeJson(this.#transport, { method: "GET", path: "/tools" });
  }

  /** Repeated over a restart of the daemon, under the same key. Tools may take minutes. */
  callTool(name: string, input: object, signal: AbortSignal): Promise<ToolReply> {
    const headers = defined({ "x-blemees-session": this.#session_id, "idempotency-key": makeRandomKey() });
    const order = { method: "POST", path: `/tools/${encodeURIComponent(name)}`, body: input } as const;
    const call = () => exchangeJson<ToolReply>(this.#transport, { ...order, headers, signal });
    return retry(call, { backoff: DEFAULT_RETRY, signal });
  }

  /** A client that retries nothing, for callers that retry and report it themselves (`client/view/source.ts`). */
  withoutRetry(): HttpClient {
    return new HttpClient({
      socket: this.socket,
      ...defined({ session_id: this.#session_id }),
      retry: false,
    });
  }
}
