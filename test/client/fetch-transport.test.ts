import { afterEach, describe, expect, test, vi } from "vitest";
import { HttpApi } from "../../src/client/http/api.ts";
import { type FetchOptions, fetchTransport } from "../../src/client/http/fetch-transport.ts";

interface Call {
  url: string;
  init: RequestInit;
}

/** A fetch that answers from `answers` and then fails. */
function fakeFetch(...answers: (() => Response)[]) {
  const calls: Call[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    calls.push({ url: String(url), init });
    const answer = answers[calls.length - 1];
    if (answer === undefined) throw new TypeError("fetch failed");
    return answer();
  };
  return { calls, fetch: fetch as typeof globalThis.fetch };
}

function apiOver(fetch: FetchOptions["fetch"], more: Partial<FetchOptions> = {}): HttpApi {
  const transport = fetchTransport({ token: "secret", ...(fetch && { fetch }), ...more });
  return new HttpApi(transport, { retry: { initialMs: 1, maxMs: 1, attempts: 2 } });
}

/** A body that sends `first` and then nothing, until it is aborted. */
function silentAfter(first: string, signal: AbortSignal | null | undefined): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(first));
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body);
}

afterEach(() => vi.useRealTimers());

describe("requests", () => {
  test("carry the token, and a body only if they have one", async () => {
    const { calls, fetch } = fakeFetch(
      () => Response.json({ sessions: [] }),
      () => Response.json({ was_idle: true }),
    );
    const api = apiOver(fetch, { origin: "http://127.0.0.1:1" });
    await api.sessions();
    await api.interrupt("s1");
    expect(calls[0]?.url).toBe("http://127.0.0.1:1/sessions");
    expect(calls[0]?.init).toMatchObject({ method: "GET", headers: { authorization: "Bearer secret" } });
    expect(calls[0]?.init.body).toBeUndefined();
    expect(calls[1]?.init).toMatchObject({ body: "{}", credentials: "omit", redirect: "error" });
  });

  test("report the daemon's clock and a rejected token", async () => {
    const onTime = vi.fn();
    const onRefused = vi.fn();
    const headers = { date: "Wed, 18 Nov 2026 03:00:00 GMT" };
    const error = { code: "unauthorized", message: "no" };
    const { fetch } = fakeFetch(() => Response.json({ error }, { status: 401, headers }));
    await expect(apiOver(fetch, { onTime, onRefused }).sessions()).rejects.toMatchObject(error);
    expect(onTime).toHaveBeenCalledWith(Date.UTC(2026, 10, 18, 3));
    expect(onRefused).toHaveBeenCalledOnce();
  });

  test("without an answer fail with connection_lost; safe ones are repeated, messages with the same key", async () => {
    const { calls, fetch } = fakeFetch();
    const api = apiOver(fetch);
    await expect(api.interrupt("s1")).rejects.toMatchObject({ code: "connection_lost" });
    expect(calls).toHaveLength(1);
    await expect(api.input("s1", { text: "a" })).rejects.toMatchObject({ code: "connection_lost" });
    await expect(api.respond("s1", "r1", { decision: "accept" })).rejects.toMatchObject({
      code: "connection_lost",
    });
    const bodies = calls.slice(1).map(({ init }) => init.body);
    expect(bodies).toHaveLength(6);
    expect(new Set(bodies).size).toBe(2);
  });

  test("aborted by the caller fail with aborted", async () => {
    const abort = new AbortController();
    abort.abort();
    const { fetch } = fakeFetch();
    const failed = apiOver(fetch).events("s1", { signal: abort.signal });
    await expect(failed).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("silence", () => {
  test("of 30 s ends a request, which is not repeated", async () => {
    vi.useFakeTimers();
    let signal: AbortSignal | null | undefined;
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      signal = init?.signal;
      return silentAfter("{", signal);
    };
    const failed = expect(apiOver(fetch).sessions()).rejects.toMatchObject({ code: "no_answer" });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
  });

  test("of 40 s ends a stream", async () => {
    vi.useFakeTimers();
    let signal: AbortSignal | null | undefined;
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      signal = init?.signal;
      return silentAfter('event: reset\ndata: {"kind":"reset"}\n\n', signal);
    };
    const changes = apiOver(fetch).changes();
    expect(await changes.next()).toMatchObject({ value: { kind: "reset" } });
    const failed = expect(changes.next()).rejects.toMatchObject({ code: "no_answer" });
    await vi.advanceTimersByTimeAsync(39_000);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
  });
});

test("a reader that stops early frees the connection", async () => {
  let signal: AbortSignal | null | undefined;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    signal = init?.signal;
    return silentAfter('data: {"kind":"reset"}\n\n', signal);
  };
  for await (const _change of apiOver(fetch).changes()) break;
  expect(signal?.aborted).toBe(true);
});
