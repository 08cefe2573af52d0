// The vendor's SDK, loaded when it is first used: nobody else pays for it, and tests put something else in its place.
import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages/messages";
import type { Fetch } from "../guarded-fetch.ts";

export type CreateParams = MessageCreateParams;

/** The part of the SDK's client that is used. What it gives is looked at as something foreign. */
export interface AnthropicClient {
  messages: {
    create(params: CreateParams, options: { signal: AbortSignal }): PromiseLike<unknown>;
  };
}

export interface ClientOrder {
  apiKey: string;
  baseURL: string;
  fetch: Fetch;
}

/** Ours are the retries and the time limits (retry.ts, guarded-fetch.ts), so the SDK's are off. */
const NO_LIMIT_MS = 2_000_000_000;

export async function loadClient({ apiKey, baseURL, fetch }: ClientOrder): Promise<AnthropicClient> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    apiKey,
    baseURL,
    fetch,
    maxRetries: 0,
    timeout: NO_LIMIT_MS,
    logLevel: "off",
    openTelemetry: false,
  });
  return {
    messages: { create: (params, options) => client.messages.create(params, options) },
  };
}
