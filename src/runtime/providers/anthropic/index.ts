// The provider for Anthropic's own API, by the vendor's SDK. Everything that differs from the others stays in this folder.
import { keyEnvOf, requireKey, secretsOf } from "../credentials.ts";
import { EchoMemory } from "../echo-memory.ts";
import { type Place, protocolError } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { listedWindow } from "../model-list.ts";
import type { AnthropicConfig, ProviderContext } from "../registry-types.ts";
import { takeIds } from "../settle.ts";
import { retryingProvider } from "../stream-with-retry.ts";
import { type ChatRequest, type ChatStreamEvent, type Provider, ProviderError } from "../types.ts";
import { AnthropicAnswer } from "./answer.ts";
import { type AnthropicClient, loadClient } from "./client.ts";
import { buildParams, type Thoughts } from "./convert.ts";
import { anthropicError } from "./fault.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

/** Throws `CodedError` where something has to be set first. */
export function createAnthropicProvider(config: AnthropicConfig, context: ProviderContext): Provider {
  const { place, apiKey } = anthropicPlace(config, context);
  const thoughts = new EchoMemory<Thoughts>();
  const taken = new Set<string>();
  let loading: Promise<AnthropicClient> | undefined;

  const client = (): Promise<AnthropicClient> => {
    if (context.anthropicClient !== undefined) return Promise.resolve(context.anthropicClient);
    const fetch = guardFetch({ fetch: context.fetch, place, idleTimeoutMs: context.idleTimeoutMs });
    loading ??= loadClient({ apiKey, baseURL: place.url, fetch });
    return loading;
  };

  async function* attempt(request: ChatRequest, stream: boolean): AsyncGenerator<ChatStreamEvent> {
    const { signal } = request;
    takeIds(request.messages, taken);
    const params = buildParams(request, thoughts, stream);
    const answer = new AnthropicAnswer(place);
    let isBegun = false;
    let fault: ProviderError | undefined;
    try {
      const { messages } = await client();
      const reply = await messages.create(params, { signal });
      if (!isStream(reply)) {
        answer.addMessage(reply);
      } else {
        for await (const event of reply) {
          for (const told of answer.add(event)) {
            isBegun = true;
            yield told;
          }
        }
      }
      // The SDK ends a stream quietly when it was called off.
      signal.throwIfAborted();
    } catch (error) {
      fault = asFault(place, error, signal);
      if (!answer.isFinished || signal.aborted) answer.fail(fault.failure);
    }
    const response = answer.finish(taken);
    if (!isBegun && response.stopReason === "error" && response.error !== undefined) {
      throw fault ?? new ProviderError(response.error);
    }
    const [first] = response.toolCalls;
    if (first !== undefined && answer.thoughts.length > 0) thoughts.keep(first.id, answer.thoughts);
    yield { type: "done", response };
  }

  return {
    ...retryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry }),
    contextTokens: (model, signal) => {
      const send = guardFetch({ fetch: context.fetch, place, idleTimeoutMs: context.idleTimeoutMs });
      const headers = { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
      const url = `${place.url}/v1/models/${encodeURIComponent(model)}`;
      return listedWindow({ send, url, headers, model, signal });
    },
  };
}

function anthropicPlace(config: AnthropicConfig, context: ProviderContext): { place: Place; apiKey: string } {
  const { key, model } = context;
  // Given always, because the SDK would else take it from a variable that the configuration does not know.
  const url = (config.baseURL ?? DEFAULT_BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "");
  const apiKey = context.anthropicClient === undefined ? requireKey(config, context, { url }) : "";
  return { place: { key, url, model, ...keyEnvOf(config), secrets: secretsOf(apiKey) }, apiKey };
}

function asFault(place: Place, error: unknown, signal: AbortSignal): ProviderError {
  // A line of the stream that is no JSON: the SDK throws what JSON.parse does.
  if (error instanceof SyntaxError) return protocolError(place, "sent something that is no JSON", error);
  return anthropicError(place, error, signal);
}

function isStream(reply: unknown): reply is AsyncIterable<unknown> {
  return typeof reply === "object" && reply !== null && Symbol.asyncIterator in reply;
}
