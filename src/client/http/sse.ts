// Server-sent events of one response, read no faster than they are taken.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { CodedError } from "../../base/coded-error.ts";
import { type Exchange, open, streamError } from "./exchange.ts";

/** A frame of the daemon is smaller. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

export interface EventStream {
  messages: AsyncGenerator<EventSourceMessage, void>;
  close(): void;
}

/** Resolves when the stream has begun. It ends by itself, by `close`, or throws `connection_lost`. */
export async function openEvents(socket: string, order: Omit<Exchange, "method">): Promise<EventStream> {
  const response = await open(socket, {
    method: "GET",
    ...order,
    headers: { accept: "text/event-stream", ...order.headers },
  });
  response.setEncoding("utf8");
  const ready: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => ready.push(message),
    onError: (cause) => {
      // Fields that we do not know are to be ignored, says the specification.
      if (cause.type === "max-buffer-size-exceeded")
        response.destroy(new CodedError("bad_reply", "the daemon sent an event that is too long", { cause }));
    },
    maxBufferSize: MAX_EVENT_BYTES,
  });
  async function* read(): AsyncGenerator<EventSourceMessage, void> {
    try {
      for await (const chunk of response as AsyncIterable<string>) {
        parser.feed(chunk);
        yield* ready.splice(0);
      }
    } catch (error) {
      throw streamError(socket, error);
    }
  }
  return { messages: read(), close: () => response.destroy() };
}
