// The provider for everything that speaks Chat Completions, by plain fetch. A vendor is a row of configuration.
import { readStart } from "../chunks.ts";
import { EchoMemory } from "../echo-memory.ts";
import { answerFailure, transportError } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { listedWindow } from "../model-list.ts";
import { readAnswer } from "../read-answer.ts";
import type { OpenAIConfig, ProviderContext } from "../registry-types.ts";
import { settle, takeIds } from "../settle.ts";
import { retryingProvider } from "../stream-with-retry.ts";
import { type ChatRequest, type ChatStreamEvent, type Provider, ProviderError } from "../types.ts";
import { Answer } from "./answer.ts";
import { openaiEndpoint } from "./endpoint.ts";
import { buildRequest, type Echo } from "./request.ts";

const MAX_ERROR_CHARS = 64 * 1024;

/** Throws `CodedError` where something has to be set first. */
export function createOpenAIProvider(config: OpenAIConfig, context: ProviderContext): Provider {
  const { place, headers } = openaiEndpoint(config, context);
  const send = guardFetch({ fetch: context.fetch, place, idleTimeoutMs: context.idleTimeoutMs });
  const echoes = new EchoMemory<Echo>();
  const taken = new Set<string>();

  async function* attempt(request: ChatRequest, stream: boolean): AsyncGenerator<ChatStreamEvent> {
    const { signal } = request;
    takeIds(request.messages, taken);
    const options = { providerKey: context.key, quirks: config.quirks ?? {}, stream, echoes };
    const body = JSON.stringify(buildRequest(request, options));
    const response = await send(place.url, { method: "POST", headers, body, signal }).catch(
      (error: unknown) => {
        throw transportError(place, error, signal);
      },
    );
    if (!response.ok || response.body === null) {
      const text = await readStart(response.body, MAX_ERROR_CHARS);
      const failure = answerFailure(place, { status: response.status, headers: response.headers, text });
      if (failure.kind !== "content_filter") throw new ProviderError(failure);
      const said = {
        text: "",
        calls: [],
        stopReason: "content_filter" as const,
        failure,
        raw: { error: text },
      };
      yield { type: "done", response: settle(said) };
      return;
    }
    yield* readAnswer(response.body, new Answer(place), { place, signal, taken, memory: echoes });
  }

  return {
    ...retryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry }),
    contextTokens: (model, signal) =>
      listedWindow({ send, url: place.url.replace("/chat/completions", "/models"), headers, model, signal }),
  };
}
