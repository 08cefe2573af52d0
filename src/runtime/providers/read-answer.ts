// Reads an answer chunk by chunk. All protocols share this; a `PartialAnswer` interprets the chunks.
import { readChunks } from "./chunks.ts";
import type { EchoMemory } from "./echo-memory.ts";
import { type Endpoint, transportError } from "./failure.ts";
import { type ChatResponse, type ChatStreamEvent, ProviderError, type ProviderFailure } from "./types.ts";

/** The answer received so far. */
export interface PartialAnswer<Echo> {
  readonly failure: ProviderFailure | undefined;
  /** The stop reason is known; only usage may follow. */
  readonly isFinished: boolean;
  add(value: unknown): ChatStreamEvent[];
  fail(failure: ProviderFailure): void;
  /** `isEnded`: the server marked the end. */
  finish(usedIds: Set<string>, isEnded: boolean): ChatResponse;
  /** Data to send back with the next request, by call id. */
  echoes(response: ChatResponse): Iterable<[string, Echo]>;
}

export interface ReadAnswerOptions<Echo> {
  endpoint: Endpoint;
  signal: AbortSignal;
  /** Call ids used so far; new ones are added. */
  usedIds: Set<string>;
  memory: EchoMemory<Echo>;
  /** Knows the last value before the connection ends. */
  isLast?: (value: unknown) => boolean;
}

/** Throws `ProviderError`, and only before its first event. */
export async function* readAnswer<Echo>(
  body: ReadableStream<Uint8Array>,
  answer: PartialAnswer<Echo>,
  { endpoint, signal, usedIds, memory, isLast }: ReadAnswerOptions<Echo>,
): AsyncGenerator<ChatStreamEvent> {
  let isEnded = false;
  let isBegun = false;
  let fault: ProviderError | undefined;
  try {
    for await (const chunk of readChunks(body, endpoint, isLast)) {
      if (chunk === "end") isEnded = true;
      for (const event of chunk === "end" ? [] : answer.add(chunk.value)) {
        isBegun = true;
        yield event;
      }
      if (answer.failure !== undefined) break;
    }
  } catch (error) {
    fault = transportError(endpoint, error, signal);
    // Missing usage is not a failure.
    if (!answer.isFinished || signal.aborted) answer.fail(fault.failure);
  }
  const response = answer.finish(usedIds, isEnded);
  if (!isBegun && response.stopReason === "error" && response.error !== undefined) {
    throw fault ?? new ProviderError(response.error);
  }
  for (const [id, echo] of answer.echoes(response)) memory.keep(id, echo);
  yield { type: "done", response };
}
