// Server-sent events of one response by fetch: an EventSource cannot send our token. Tries nothing again.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ApiError, cutError, type Order, send, type Transport } from "./transport.ts";

/** The daemon sends a comment every 15 s: a stream that is silent for so long is dead (a laptop that slept). */
const SILENCE_MS = 40_000;
/** A frame of the daemon is smaller. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/** Each batch is what came at once. Ends when the daemon ends it; throws when it is cut or `signal` aborts. */
export async function* readEvents(
  transport: Transport,
  order: Order & { signal: AbortSignal },
  onOpen?: () => void,
): AsyncGenerator<EventSourceMessage[], void> {
  const silence = new AbortController();
  const signal = AbortSignal.any([order.signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  let batch: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    onEvent: (message) => batch.push(message),
    onError: (error) => {
      // Fields that we do not know are to be ignored, says the specification.
      if (error.type === "max-buffer-size-exceeded") isTooLong = true;
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  try {
    const headers = { accept: "text/event-stream", ...order.headers };
    const response = await send(transport, { ...order, headers, signal });
    onOpen?.();
    const decoder = new TextDecoder();
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      parser.feed(decoder.decode(value, { stream: true }));
      if (isTooLong) throw new ApiError("bad_reply", "the daemon sent an event that is too long");
      if (batch.length === 0) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    throw error instanceof ApiError ? error : cutError(error, order.signal);
  } finally {
    clearTimeout(timer);
    // Also when the reader has enough: the connection is free again at once.
    silence.abort();
  }
}

export function parseData(data: string): Record<string, unknown> {
  try {
    return JSON.parse(data) as Record<string, unknown>;
  } catch (cause) {
    throw new ApiError("bad_reply", "the daemon sent an event that is not JSON", { cause });
  }
}
