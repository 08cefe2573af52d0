// The provider for Anthropic's Messages API. Its URL comes from the configuration only, never from ANTHROPIC_BASE_URL.
import { asObject } from "../../../base/values.ts";
import { parseBaseUrl, withPath } from "../base-url.ts";
import { filterSecrets, getKeyEnv, requireKey } from "../credentials.ts";
import { EchoMemory } from "../echo-memory.ts";
import { answerFailure } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { createModelList } from "../models/list.ts";
import { endRefused, postJson } from "../post.ts";
import { readAnswer } from "../read-answer.ts";
import type { AnthropicConfig, ProviderContext } from "../registry-types.ts";
import { reserveIds } from "../settle.ts";
import { createRetryingProvider } from "../stream-with-retry.ts";
import type { ChatRequest, ChatStreamEvent, Provider } from "../types.ts";
import { AnthropicAnswer } from "./answer.ts";
import { buildRequest, type Thoughts } from "./convert.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";
/** The version of the API that the types in convert.ts describe. */
const API_VERSION = "2026-10-21";

/** Throws `CodedError` if the configuration is incomplete. */
export function createAnthropicProvider(config: AnthropicConfig, context: ProviderContext): Provider {
  const { key, model } = context;
  const base = withPath(parseBaseUrl(`providers.${key}.baseURL`, config.baseURL ?? DEFAULT_BASE_URL), "/v1");
  const url = withPath(base, "/messages").href;
  const apiKey = requireKey(config, context, { url });
  const endpoint = { key, url, model, ...getKeyEnv(config), secrets: filterSecrets(apiKey) };
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "anthropic-version": API_VERSION,
    "content-type": "application/json",
    "user-agent": "demian",
  };
  const send = guardFetch({ fetch: context.fetch, endpoint, idleTimeoutMs: context.idleTimeoutMs });
  const memory = new EchoMemory<Thoughts>();
  const usedIds = new Set<string>();

  async function* attempt(request: ChatRequest, stream: boolean): AsyncGenerator<ChatStreamEvent> {
    const { signal } = request;
    reserveIds(request.messages, usedIds);
    const body = buildRequest(request, memory, stream);
    const reply = await postJson({ send, endpoint, headers, body, signal });
    if (reply.refusal !== undefined) yield endRefused(answerFailure(endpoint, reply.refusal), reply.refusal);
    else
      yield* readAnswer(reply.body, new AnthropicAnswer(endpoint), {
        endpoint,
        signal,
        usedIds: usedIds,
        memory,
        isLast,
      });
  }

  return {
    ...createRetryingProvider(config.type, attempt, { maxRetries: config.maxRetries, ...context.retry }),
    listModels: createModelList({
      url: `${withPath(base, "/models").href}?limit=1000`,
      account: [apiKey],
      request: (url, signal) => send(url, { headers, signal }),
      env: context.env,
    }),
  };
}

function isLast(event: unknown): boolean {
  return asObject(event)["type"] === "message_stop";
}
