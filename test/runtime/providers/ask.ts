// Sends requests as the agent loop does, and collects the events. Waits between retries are recorded and skipped.
import { beforeEach } from "vitest";
import type { ProviderConfig } from "../../../src/runtime/config/schema.ts";
import { type ResolveOptions, resolveProvider } from "../../../src/runtime/providers/resolve.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type ChatStreamEvent,
  isExternal,
  type NativeProvider,
  type Provider,
  ProviderError,
  type ProviderFailure,
  type ResolvedProvider,
  type RetryNotice,
} from "../../../src/runtime/providers/types.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";

export const TOOL = {
  name: "read_file",
  description: "Reads a file.",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
};

/** Every test of the file has its own model server. */
export function eachWithServer(take: (fresh: ModelServer) => void): void {
  beforeEach(async () => {
    const server = await startModelServer();
    take(server);
    return () => server.close();
  });
}

export function askOf(change: Partial<ChatRequest> = {}): ChatRequest {
  return {
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    model: "m",
    signal: new AbortController().signal,
    ...change,
  };
}

/** One that we ask ourselves. */
export function native(resolved: ResolvedProvider): NativeProvider {
  if (isExternal(resolved)) throw new Error(`${resolved.key} is no model`);
  return resolved;
}

export function resolve(config: ProviderConfig, options: Partial<ResolveOptions> = {}): Provider {
  const settings = { env: {}, model: "m", retry: { sleep: () => Promise.resolve() }, ...options };
  return native(resolveProvider("vendor", { vendor: config }, settings)).provider;
}

export function openai(baseURL: string, options: Partial<ResolveOptions> = {}): Provider {
  return resolve({ type: "openai-compatible", baseURL }, options);
}

export interface Heard {
  events: ChatStreamEvent[];
  text: string;
  reasoning: string;
  response: ChatResponse;
}

export async function listen(provider: Provider, request: ChatRequest = askOf()): Promise<Heard> {
  const events: ChatStreamEvent[] = [];
  for await (const event of provider.stream?.(request) ?? []) events.push(event);
  const ends = events.flatMap((event) => (event.type === "done" ? [event.response] : []));
  const [response] = ends;
  if (response === undefined || ends.length > 1 || events.at(-1)?.type !== "done") {
    throw new Error(`expected one "done", as the last event, got ${JSON.stringify(events)}`);
  }
  const textOf = (type: string) =>
    events.flatMap((event) => (event.type === type && "text" in event ? [event.text] : [])).join("");
  return { events, text: textOf("text_delta"), reasoning: textOf("reasoning_delta"), response };
}

/** Aborts at the first text, and returns all events. */
export async function abortAtFirstWords(provider: Provider): Promise<ChatStreamEvent[]> {
  const abort = new AbortController();
  const events: ChatStreamEvent[] = [];
  for await (const event of provider.stream?.(askOf({ signal: abort.signal })) ?? []) {
    events.push(event);
    if (event.type === "text_delta") abort.abort();
  }
  return events;
}

/** What it rejects with. */
export async function failureOf(answer: Promise<unknown>): Promise<ProviderFailure> {
  const error = await answer.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error.failure;
  throw error;
}

/** A request that records its retries. */
export function retriedAsk(change: Partial<ChatRequest> = {}): {
  request: ChatRequest;
  notices: RetryNotice[];
} {
  const notices: RetryNotice[] = [];
  return { request: askOf({ onRetry: (notice) => notices.push(notice), ...change }), notices };
}

/** A fetch that answers with exactly these pieces of a body. */
export function fetchOf(pieces: readonly (string | Uint8Array)[], init: ResponseInit = {}): typeof fetch {
  return () => {
    const encoder = new TextEncoder();
    const queue = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = queue.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" }, ...init }));
  };
}

/** Bytes in pieces; a place is a part of the whole, from 0 to 1. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const offsets = [...new Set(places.map((place) => Math.floor(place * bytes.length)))].sort((a, b) => a - b);
  return [...offsets, bytes.length].map((end, index) => bytes.subarray(offsets[index - 1] ?? 0, end));
}
