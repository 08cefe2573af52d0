// Reads the data of server-sent events.
import { createParser } from "eventsource-parser";
import { type Endpoint, protocolError } from "./failure.ts";

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** Throws `ProviderError` for an event that is too long. A last event that was cut off is yielded too. */
export async function* readEvents(text: AsyncIterable<string>, endpoint: Endpoint): AsyncGenerator<string> {
  const ready: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data }) => ready.push(data),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") isTooLong = true;
    },
  });
  for await (const piece of text) {
    parser.feed(piece);
    yield* ready.splice(0);
    if (isTooLong) throw protocolError(endpoint, `sent an event of more than ${MAX_EVENT_CHARS} characters`);
  }
  // Some servers omit the blank line after the last event.
  parser.feed("\n\n");
  yield* ready.splice(0);
}
