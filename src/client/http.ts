// The HTTP API over the daemon's Unix socket.
import { defined } from "../base/values.ts";
import { findSocket } from "./discover.ts";
import { HttpApi } from "./http/api.ts";
import type { HttpApiOptions } from "./http/options.ts";
import { createUnixTransport } from "./http/unix-transport.ts";

export interface HttpOptions extends HttpApiOptions {
  /** Path of the daemon's socket; defaults to the standard location. */
  socket?: string;
}

export class HttpClient extends HttpApi {
  readonly socket: string;
  readonly #session_id: string | undefined;

  constructor({ socket, ...options }: HttpOptions = {}) {
    const path = findSocket(socket);
    super(createUnixTransport(path), options);
    this.socket = path;
    this.#session_id = options.session_id;
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
