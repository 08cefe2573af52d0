// fetch for talking to models: it follows no redirect, because that would carry the key to another origin, and neither
// an answer without end nor one that goes silent can hold it up.
import { brokenFailure, type Place, protocolError } from "./failure.ts";
import { ProviderError } from "./types.ts";

export type Fetch = typeof globalThis.fetch;

const DEFAULT_IDLE_TIMEOUT_MS = 300_000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface FetchGuards {
  fetch?: Fetch | undefined;
  place: Place;
  /** How long the other side may say nothing. */
  idleTimeoutMs?: number | undefined;
  maxBytes?: number | undefined;
}

/** A fetch whose faults are `ProviderError` where it is itself the judge. */
export function guardFetch(guards: FetchGuards): Fetch {
  const { place, maxBytes = MAX_BODY_BYTES, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = guards;
  const call = guards.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const watch = new Watch(init?.signal ?? undefined, idleTimeoutMs);
    const silent = () =>
      new ProviderError(brokenFailure(place, `said nothing for ${Math.round(idleTimeoutMs / 1000)} s`));
    try {
      const response = await watch.during(() =>
        call(input, { ...init, ...wellFormed(init?.body), redirect: "manual", signal: watch.signal }),
      );
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        await response.body?.cancel().catch(() => undefined); // Nothing in it is wanted.
        throw protocolError(place, redirectText(response));
      }
      if (response.body === null) {
        watch.close();
        return response;
      }
      const body = guardBody(response.body, watch, (bytes) => {
        if (bytes > maxBytes) return protocolError(place, `sent more than ${maxBytes} bytes`);
        return watch.isSilent ? silent() : undefined;
      });
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (error) {
      watch.close();
      throw watch.isSilent ? silent() : error;
    }
  };
}

/** In JSON only half a surrogate pair is written as an escape. Servers refuse it, with every later request as well. */
function wellFormed(body: unknown): { body?: string } {
  if (typeof body !== "string" || !body.includes("\\ud")) return {};
  return { body: body.replaceAll(/(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, "\\ufffd") };
}

/** `judge` is told the size so far, and says what is wrong with the answer. */
function guardBody(
  source: ReadableStream<Uint8Array>,
  watch: Watch,
  judge: (bytes: number) => ProviderError | undefined,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let bytes = 0;
  const end = async () => {
    watch.close();
    await reader.cancel().catch(() => undefined); // It is being given up; how it ends does not matter.
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await watch.during(() => reader.read());
        bytes += value?.byteLength ?? 0;
        const fault = judge(bytes);
        if (fault !== undefined) throw fault;
        if (value !== undefined) controller.enqueue(value);
        if (!done) return;
        watch.close();
        controller.close();
      } catch (error) {
        const fault = judge(bytes);
        await end();
        controller.error(fault ?? error);
      }
    },
    cancel: end,
  });
}

function redirectText(response: Response): string {
  const location = response.headers.get("location") ?? "";
  const target = URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
  return `answered with a redirect${target} (status ${response.status}), which is not followed because the key would go along`;
}

/** Runs only while somebody waits for the other side: a slow reader of ours is no silence of theirs. */
class Watch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #idleTimeoutMs: number;
  isSilent = false;

  constructor(outer: AbortSignal | undefined, idleTimeoutMs: number) {
    this.#outer = outer;
    this.#idleTimeoutMs = idleTimeoutMs;
    outer?.addEventListener("abort", this.#abort, { once: true });
    if (outer?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async during<T>(act: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.isSilent = true;
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
