// A stream that may be begun anew until its first event, and never after it.
import { type RetryOptions, withRetry } from "./retry.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type ChatStreamEvent,
  type Provider,
  ProviderError,
} from "./types.ts";

type Attempt = (request: ChatRequest, stream: boolean) => AsyncGenerator<ChatStreamEvent>;

/** Out of one attempt at a request. An answer in one piece is a stream with one event. */
export function retryingProvider(
  id: string,
  attempt: Attempt,
  retry: Omit<RetryOptions, "signal" | "onRetry">,
): Provider {
  const begin = (request: ChatRequest, stream: boolean) => {
    const { signal, onRetry } = request;
    return streamWithRetry(() => attempt(request, stream), { signal, onRetry, ...retry });
  };
  return {
    id,
    chat: (request) => responseOf(begin(request, false)),
    stream: (request) => begin(request, true),
  };
}

/** `attempt` gives a stream that throws `ProviderError` before its first event or not at all. */
async function* streamWithRetry(
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
async function responseOf(events: AsyncIterable<ChatStreamEvent>): Promise<ChatResponse> {
  for await (const event of events) {
    if (event.type === "done") return event.response;
  }
  throw new ProviderError({ kind: "protocol", message: "the answer ended without a last event" });
}
