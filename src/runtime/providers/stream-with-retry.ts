// A stream that may be begun anew until its first event, and never after it.
import { type RetryOptions, withRetry } from "./retry.ts";
import { type ChatResponse, type ChatStreamEvent, ProviderError } from "./types.ts";

/** `attempt` gives a stream that throws `ProviderError` before its first event or not at all. */
export async function* streamWithRetry(
  attempt: () => AsyncGenerator<ChatStreamEvent>,
  options: RetryOptions,
): AsyncGenerator<ChatStreamEvent> {
  const { events, first } = await withRetry(async () => {
    const begun = attempt();
    return { events: begun, first: await begun.next() };
  }, options);
  try {
    if (first.done) return;
    yield first.value;
    yield* events;
  } finally {
    await events.return(undefined);
  }
}

/** The last event of a stream is its response. */
export async function responseOf(events: AsyncIterable<ChatStreamEvent>): Promise<ChatResponse> {
  for await (const event of events) {
    if (event.type === "done") return event.response;
  }
  throw new ProviderError({ kind: "protocol", message: "the answer ended without a last event" });
}
