// Posts a request to a model, and reads error responses.
import { readStart } from "./chunks.ts";
import { type Endpoint, transportError } from "./failure.ts";
import type { Fetch } from "./guarded-fetch.ts";
import { toResponse } from "./settle.ts";
import { type ChatStreamEvent, ProviderError, type ProviderFailure } from "./types.ts";

const MAX_ERROR_CHARS = 64 * 1024;

export interface PostOptions {
  send: Fetch;
  endpoint: Endpoint;
  headers: Readonly<Record<string, string>>;
  body: unknown;
  signal: AbortSignal;
}

export interface Refusal {
  status: number;
  headers: Headers;
  text: string;
}

export type Reply =
  | { body: ReadableStream<Uint8Array>; refusal?: undefined }
  | { body?: undefined; refusal: Refusal };

/** Rejects with `ProviderError` if the server cannot be reached. */
export async function postJson({ send, endpoint, headers, body, signal }: PostOptions): Promise<Reply> {
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  const response = await send(endpoint.url, init).catch((error: unknown) => {
    throw transportError(endpoint, error, signal);
  });
  if (response.ok && response.body !== null) return { body: response.body };
  const text = await readStart(response.body, MAX_ERROR_CHARS);
  return { refusal: { status: response.status, headers: response.headers, text } };
}

/** The last event after a refusal. Throws `ProviderError`, except for a content filter: that is an answer. */
export function endRefused(failure: ProviderFailure, { text }: Refusal): ChatStreamEvent {
  if (failure.kind !== "content_filter") throw new ProviderError(failure);
  const raw = { error: text };
  return {
    type: "done",
    response: toResponse({ text: "", calls: [], stopReason: failure.kind, failure, raw }),
  };
}
