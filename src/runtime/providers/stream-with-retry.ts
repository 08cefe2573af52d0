// Retries a stream until its first event, never after it.
import { type RetryOptions, withRetry } from "./retry.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type ChatStreamEvent,
  type Provider,
  ProviderError,
} from "./types.ts";

type Attempt = (request: ChatRequest, stream: boolean) => AsyncGenerator<ChatStreamEvent>;

/** Builds a provider from a single attempt. `chat` reads the last event of a stream. */
export function createRetryingProvider(
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
    chat: (request) => readResponse(begin(request, false)),
    stream: (request) => begin(request, true),
  };
}

/** `attempt` returns a stream that throws `ProviderError` before its first event or not at all. */
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

/** Reads a stream up to its response, which is the last event. */
async function readResponse(events: AsyncIterable<ChatStreamEvent>): Promise<ChatResponse> {
  for await (const event of events) {
    if (event.type === "done") return event.response;
  }
  throw new ProviderError({ kind: "protocol", message: "the answer ended without a last event" });
}
