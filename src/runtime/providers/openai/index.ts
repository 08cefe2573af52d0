// The provider for all vendors with a Chat Completions API. A vendor is a configuration entry.
import { EchoMemory } from "../echo-memory.ts";
import { answerFailure } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { fetchContextWindow } from "../model-list.ts";
import { endRefused, postJson } from "../post.ts";
import { readAnswer } from "../read-answer.ts";
import type { OpenAIConfig, ProviderContext } from "../registry-types.ts";
import { reserveIds } from "../settle.ts";
import { createRetryingProvider } from "../stream-with-retry.ts";
import type { ChatRequest, ChatStreamEvent, Provider } from "../types.ts";
import { OpenAIAnswer } from "./answer.ts";
import { resolveEndpoint } from "./endpoint.ts";
import { buildRequest, type OpenAIEcho } from "./request.ts";

/** Throws `CodedError` if the configuration is incomplete. */
export function createOpenAIProvider(config: OpenAIConfig, context: ProviderContext): Provider {
  const { endpoint, headers } = resolveEndpoint(config, context);
  const send = guardFetch({ fetch: context.fetch, endpoint, idleTimeoutMs: context.idleTimeoutMs });
  const echoes = new EchoMemory<OpenAIEcho>();
  const usedIds = new Set<string>();

  async function* attempt(request: ChatRequest, stream: boolean): AsyncGenerator<ChatStreamEvent> {
    const { signal } = request;
    reserveIds(request.messages, usedIds);
    const options = { providerKey: context.key, quirks: config.quirks ?? {}, stream, echoes };
    const body = buildRequest(request, options);
    const reply = await postJson({ send, endpoint, headers, body, signal });
    if (reply.refusal !== undefined) yield endRefused(answerFailure(endpoint, reply.refusal), reply.refusal);
    else
      yield* readAnswer(reply.body, new OpenAIAnswer(endpoint), {
        endpoint,
        signal,
        usedIds: usedIds,
        memory: echoes,
      });
  }

  return {
    ...createRetryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry }),
    contextTokens: (model, signal) =>
      fetchContextWindow({
        send,
        url: endpoint.url.replace("/chat/completions", "/models"),
        headers,
        model,
        signal,
      }),
  };
}
