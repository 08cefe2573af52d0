// An answer that comes in chunks, until its last word: what both protocols that we read ourselves have in common.
import { readChunks } from "./chunks.ts";
import type { EchoMemory } from "./echo-memory.ts";
import { type Place, transportError } from "./failure.ts";
import { type ChatResponse, type ChatStreamEvent, ProviderError, type ProviderFailure } from "./types.ts";

/** An answer as far as it has come. */
export interface GrowingAnswer<Echo> {
  readonly failure: ProviderFailure | undefined;
  /** What still comes says nothing new. */
  readonly isFinished: boolean;
  add(value: unknown): ChatStreamEvent[];
  fail(failure: ProviderFailure): void;
  /** `isEnded`: the server said that this was all. */
  finish(taken: Set<string>, isEnded: boolean): ChatResponse;
  /** What goes back with the next request, by the call that it belongs to. */
  echoes(response: ChatResponse): Iterable<[string, Echo]>;
}

export interface ReadOrder<Echo> {
  place: Place;
  signal: AbortSignal;
  /** Ids of calls that were given. */
  taken: Set<string>;
  memory: EchoMemory<Echo>;
  isLast?: () => boolean;
}

/** Throws `ProviderError` before its first event only. */
export async function* readAnswer<Echo>(
  body: ReadableStream<Uint8Array>,
  answer: GrowingAnswer<Echo>,
  { place, signal, taken, memory, isLast }: ReadOrder<Echo>,
): AsyncGenerator<ChatStreamEvent> {
  let isEnded = false;
  let isBegun = false;
  let fault: ProviderError | undefined;
  try {
    for await (const chunk of readChunks(body, place, isLast)) {
      if (chunk === "end") isEnded = true;
      for (const event of chunk === "end" ? [] : answer.add(chunk.value)) {
        isBegun = true;
        yield event;
      }
      if (answer.failure !== undefined) break;
    }
  } catch (error) {
    fault = transportError(place, error, signal);
    // Figures that did not come any more are no loss.
    if (!answer.isFinished || signal.aborted) answer.fail(fault.failure);
  }
  const response = answer.finish(taken, isEnded);
  if (!isBegun && response.stopReason === "error" && response.error !== undefined) {
    throw fault ?? new ProviderError(response.error);
  }
  for (const [id, echo] of answer.echoes(response)) memory.keep(id, echo);
  yield { type: "done", response };
}
