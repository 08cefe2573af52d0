// The provider for all vendors with a Chat Completions API. A vendor is a configuration entry.

import { CodedError } from "../../../base/coded-error.ts";
import { parseBaseUrl, withPath } from "../base-url.ts";
import { filterSecrets, getKeyEnv, requireKey } from "../credentials.ts";
import { EchoMemory } from "../echo-memory.ts";
import { answerFailure, type Endpoint } from "../failure.ts";
import { guardFetch } from "../guarded-fetch.ts";
import { createModelList } from "../models/list.ts";
import { endRefused, postJson } from "../post.ts";
import { AZURE_PLACEHOLDER_HOST } from "../presets.ts";
import { readAnswer } from "../read-answer.ts";
import type { OpenAIConfig, ProviderContext } from "../registry-types.ts";
import { reserveIds } from "../settle.ts";
import { createRetryingProvider } from "../stream-with-retry.ts";
import type { ChatRequest, ChatStreamEvent, Provider } from "../types.ts";
import { OpenAIAnswer } from "./answer.ts";
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
    listModels: createModelList({
      url: endpoint.url.replace("/chat/completions", "/models"),
      account: Object.values(headers),
      request: (url, signal) => send(url, { headers, signal }),
      env: context.env,
    }),
  };
}

const AZURE_HOSTS = [".openai.azure.com", ".services.ai.azure.com"];

interface OpenAIEndpoint {
  endpoint: Endpoint;
  headers: Readonly<Record<string, string>>;
}

/**
 * One path for all vendors, and one authentication header that differs. Throws `CodedError` if the configuration is
 * incomplete.
 */
function resolveEndpoint(config: OpenAIConfig, context: ProviderContext): OpenAIEndpoint {
  const { key, model } = context;
  const url = toChatUrl(key, config.baseURL);
  const isAzure = AZURE_HOSTS.some((end) => url.hostname.endsWith(end));
  const auth = config.auth ?? { type: isAzure ? "api-key" : "bearer" };
  const own = config.headers ?? {};
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "demian" };
  const secrets = Object.values(own);
  if (auth.type !== "none") {
    const instead = ', or set auth.type to "none" if it needs no key';
    const apiKey = requireKey(config, context, { url: url.href, instead });
    Object.assign(headers, buildAuthHeader(key, auth, apiKey));
    secrets.push(apiKey);
  }
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value;
  const endpoint = { key, url: url.href, model, ...getKeyEnv(config), secrets: filterSecrets(...secrets) };
  return { endpoint, headers };
}

function toChatUrl(key: string, baseURL: string): URL {
  const field = `providers.${key}.baseURL`;
  const url = parseBaseUrl(field, baseURL);
  if (url.hostname === AZURE_PLACEHOLDER_HOST) {
    const text = `${field} is not set; use your resource's endpoint, https://NAME.openai.azure.com/openai/v1`;
    throw new CodedError("bad_base_url", text);
  }
  return withPath(url, "/chat/completions");
}

function buildAuthHeader(
  key: string,
  auth: NonNullable<OpenAIConfig["auth"]>,
  apiKey: string,
): Record<string, string> {
  if (auth.type === "bearer") return { authorization: `Bearer ${apiKey}` };
  if (auth.type === "api-key") return { "api-key": apiKey };
  if (auth.header !== undefined) return { [auth.header.toLowerCase()]: apiKey };
  throw new CodedError(
    "bad_auth",
    `providers.${key}.auth: set "header" to the name of the header for the key`,
  );
}
