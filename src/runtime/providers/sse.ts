// Server-sent events out of bytes: the data of each event, however the bytes were cut.
import { createParser } from "eventsource-parser";
import { type Place, protocolError } from "./failure.ts";

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** Throws `ProviderError` for an event without end. An event that the end cut off is given as it is. */
export async function* readEvents(text: AsyncIterable<string>, place: Place): AsyncGenerator<string> {
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
    if (isTooLong) throw protocolError(place, `sent an event of more than ${MAX_EVENT_CHARS} characters`);
  }
  // Some end without the blank line that would dispatch the last event.
  parser.feed("\n\n");
  yield* ready.splice(0);
}
