// Server-sent events of one response, read no faster than the caller consumes them.
import { createParser } from "eventsource-parser";
import { CodedError } from "../../base/coded-error.ts";
import { openResponse } from "./exchange.ts";
import type { Order, Transport } from "./transport.ts";

/** No frame of the daemon is larger. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/** One event. Not the parser's type, so that the published declarations do not need the parser. */
export interface SseMessage {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

export interface EventStream {
  messages: AsyncGenerator<SseMessage, void>;
  close(): void;
}

/** Resolves when the stream has started. It ends by itself, on `close`, or throws `connection_lost`. */
export async function openEvents(
  transport: Transport,
  { headers, ...order }: Omit<Order, "method" | "silenceMs">,
): Promise<EventStream> {
  const response = await openResponse(transport, {
    method: "GET",
    ...order,
    headers: { accept: "text/event-stream", ...headers },
  });
  const ready: SseMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    onEvent: (message) => ready.push(message),
    onError: ({ type }) => {
      // Unknown fields are ignored, as the specification requires.
      if (type === "max-buffer-size-exceeded") isTooLong = true;
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  async function* read(): AsyncGenerator<SseMessage, void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.chunks) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (isTooLong) throw new CodedError("bad_reply", "the daemon sent an event that is too long");
      yield* ready.splice(0);
    }
  }
  return { messages: read(), close: () => response.close() };
}
