// HTTP by fetch, with the bearer token: for browsers, and for the daemon's TCP port.
import { CodedError } from "../../base/coded-error.ts";
import type { Order, Transport } from "./transport.ts";

export interface FetchOptions {
  token: string;
  /** Defaults to the page's own origin. */
  origin?: string;
  fetch?: typeof fetch;
  /** Called when the daemon rejects the token. */
  onRefused?: () => void;
  /** Called with the daemon's clock, accurate to the second, on every response. */
  onTime?: (daemonMs: number) => void;
}

/** The daemon sends a comment every 15 s, so a stream silent for this long is dead (for example after sleep). */
const STREAM_SILENCE_MS = 40_000;

export function fetchTransport(options: FetchOptions): Transport {
  return {
    async send(order) {
      const ended = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const restartTimer = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => ended.abort(silence()), order.silenceMs ?? STREAM_SILENCE_MS);
      };
      const onAbort = (): void => ended.abort();
      if (order.signal?.aborted) onAbort();
      else order.signal?.addEventListener("abort", onAbort);
      const close = (): void => {
        clearTimeout(timer);
        order.signal?.removeEventListener("abort", onAbort);
        ended.abort();
      };
      async function* readChunks(response: Response): AsyncGenerator<Uint8Array, void> {
        try {
          const reader = response.body?.getReader();
          // Aborting the request is not enough: once Node has collected `response` as garbage, it no longer ends the read.
          ended.signal.addEventListener("abort", () => void reader?.cancel().catch(() => undefined));
          for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
            restartTimer();
            yield part.value;
          }
          ended.signal.throwIfAborted();
        } catch (cause) {
          throw explainError(cause, order.signal);
        } finally {
          // Frees the connection at once, also when the caller stops early.
          close();
        }
      }
      restartTimer();
      try {
        const response = await sendRequest(options, order, ended.signal);
        const daemonMs = Date.parse(response.headers.get("date") ?? "");
        if (!Number.isNaN(daemonMs)) options.onTime?.(daemonMs);
        if (response.status === 401) options.onRefused?.();
        return { status: response.status, chunks: readChunks(response), close };
      } catch (cause) {
        close();
        throw explainError(cause, order.signal);
      }
    },
  };
}

function sendRequest(
  { token, origin = "", fetch: send = fetch }: FetchOptions,
  { method, path, body, headers }: Order,
  signal: AbortSignal,
): Promise<Response> {
  return send(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
}

/** Not `connection_lost`: a daemon that hangs does not come back soon, so nothing is repeated. */
function silence(): CodedError {
  return new CodedError("no_answer", "the daemon is not responding");
}

function explainError(cause: unknown, signal: AbortSignal | undefined): CodedError {
  if (cause instanceof CodedError) return cause;
  return signal?.aborted
    ? new CodedError("aborted", "aborted by the caller", { cause })
    : new CodedError("connection_lost", "the daemon is not responding", { cause });
}
