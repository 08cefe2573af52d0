// fetch with limits: no redirects, which would send the key to another origin, and a maximum size and silence.
import { brokenFailure, type Endpoint, protocolError } from "./failure.ts";
import { ProviderError } from "./types.ts";

export type Fetch = typeof globalThis.fetch;

const DEFAULT_IDLE_TIMEOUT_MS = 300_000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface FetchGuards {
  fetch?: Fetch | undefined;
  endpoint: Endpoint;
  /** Maximum time without data from the server. */
  idleTimeoutMs?: number | undefined;
  maxBytes?: number | undefined;
}

/** Violated limits are reported as `ProviderError`, other faults as fetch reports them. */
export function guardFetch(guards: FetchGuards): Fetch {
  const { endpoint, maxBytes = MAX_BODY_BYTES, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = guards;
  const call = guards.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const timer = new IdleTimer(init?.signal ?? undefined, idleTimeoutMs);
    const timedOut = () =>
      new ProviderError(brokenFailure(endpoint, `sent nothing for ${Math.round(idleTimeoutMs / 1000)} s`));
    try {
      const response = await timer.run(() =>
        call(input, {
          ...init,
          ...replaceLoneSurrogates(init?.body),
          redirect: "manual",
          signal: timer.signal,
        }),
      );
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        await response.body?.cancel().catch(() => undefined); // The body is not needed.
        throw protocolError(endpoint, describeRedirect(response));
      }
      if (response.body === null) {
        timer.close();
        return response;
      }
      const body = guardBody(response.body, timer, (bytes) => {
        if (bytes > maxBytes) return protocolError(endpoint, `sent more than ${maxBytes} bytes`);
        return timer.hasTimedOut ? timedOut() : undefined;
      });
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (error) {
      timer.close();
      throw timer.hasTimedOut ? timedOut() : error;
    }
  };
}

/** Replaces lone surrogates, which JSON.stringify escapes and servers reject in this and every later request. */
function replaceLoneSurrogates(body: unknown): { body?: string } {
  if (typeof body !== "string" || !body.includes("\\ud")) return {};
  return { body: body.replaceAll(/(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, "\\ufffd") };
}

/** `check` gets the size so far, and returns the violated limit. */
function guardBody(
  source: ReadableStream<Uint8Array>,
  timer: IdleTimer,
  check: (bytes: number) => ProviderError | undefined,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let bytes = 0;
  const end = async () => {
    timer.close();
    await reader.cancel().catch(() => undefined); // The body is abandoned.
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await timer.run(() => reader.read());
        bytes += value?.byteLength ?? 0;
        const fault = check(bytes);
        if (fault !== undefined) throw fault;
        if (value !== undefined) controller.enqueue(value);
        if (!done) return;
        timer.close();
        controller.close();
      } catch (error) {
        const fault = check(bytes);
        await end();
        controller.error(fault ?? error);
      }
    },
    cancel: end,
  });
}

function describeRedirect(response: Response): string {
  const location = response.headers.get("location") ?? "";
  const target = URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
  return `answered with a redirect${target} (status ${response.status}); redirects are not followed, because the key would be sent along`;
}

/** Runs only while a read is pending, so a slow consumer does not count as a silent server. */
class IdleTimer {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #idleTimeoutMs: number;
  hasTimedOut = false;

  constructor(outer: AbortSignal | undefined, idleTimeoutMs: number) {
    this.#outer = outer;
    this.#idleTimeoutMs = idleTimeoutMs;
    outer?.addEventListener("abort", this.#abort, { once: true });
    if (outer?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.hasTimedOut = true;
      this.#abort();
    }, this.#idleTimeoutMs);
    try {
      return await act();
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#outer?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
}
