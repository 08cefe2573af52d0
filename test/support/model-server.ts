// A model server on loopback HTTP: it answers from a list of replies, keeps every request unchanged, and gives a test
// control over each byte and when it is sent.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed; the raw text if it is not JSON. */
  body: unknown;
}

/** One answer. It may take its time: the test controls whatever it awaits. */
export type Reply = (exchange: Exchange) => Promise<void> | void;

export interface Exchange {
  request: ModelRequest;
  /** Sends the head; the default is an event stream with status 200. */
  head(status?: number, headers?: Record<string, string>): void;
  /** Resolves when the bytes are sent. */
  write(bytes: string | Uint8Array): Promise<void>;
  end(): void;
  /** Cuts the connection. */
  cut(): void;
  /** Resolves when the client has disconnected. */
  gone: Promise<void>;
}

export interface ModelServer {
  /** Without a trailing slash. */
  url: string;
  requests: ModelRequest[];
  /** Its list of models; initially empty. Requests for it are kept separately. */
  models: { list?: unknown; asked: string[] };
  /** Appends replies; each is used once, in order. Without one the server answers 500. */
  script(...replies: Reply[]): void;
  /** The request with this number, from 0, once it has arrived. */
  request(index: number): Promise<ModelRequest>;
  close(): Promise<void>;
}

export async function startModelServer(...replies: Reply[]): Promise<ModelServer> {
  const queue = [...replies];
  const requests: ModelRequest[] = [];
  const models: ModelServer["models"] = { asked: [] };
  const waiting: { index: number; resolve(request: ModelRequest): void }[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      if (method === "GET" && /\/models(\/|$)/.test(path)) {
        models.asked.push(path);
        const answer = models.list === undefined ? status(404, {}) : status(200, models.list);
        void answer(exchangeOf({ method, path, headers, body: "" }, response));
        return;
      }
      const request = { method, path, headers, body: parse(Buffer.concat(chunks).toString()) };
      requests.push(request);
      for (const { index, resolve } of waiting) if (index === requests.length - 1) resolve(request);
      const reply = queue.shift() ?? status(500, { error: { message: "the script has no more replies" } });
      void Promise.resolve(reply(exchangeOf(request, response))).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    models,
    script: (...more) => {
      queue.push(...more);
    },
    request: (index) => {
      const there = requests[index];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ index, resolve }));
    },
    close: () => closeServer(server),
  };
}

/** A JSON answer with any status. */
export function status(code: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return ({ head, write, end }) => {
    head(code, { "content-type": "application/json", ...headers });
    void write(typeof body === "string" ? body : JSON.stringify(body));
    end();
  };
}

/** Events with these data, then the end of the connection. */
export function events(...data: (object | string)[]): Reply {
  return bytes(...data.map(sse));
}

/** Exactly these chunks, one after the other. */
export function bytes(...pieces: (string | Uint8Array)[]): Reply {
  return async ({ head, write, end }) => {
    head();
    for (const piece of pieces) await write(piece);
    end();
  };
}

export function sse(data: object | string): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A Chat Completions chunk. */
export function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: "chatcmpl-1", object: "chat.completion.chunk", model: "the-model", choices };
}

export interface ScriptedCall {
  id?: string;
  name: string;
  input: object;
}

/** A streamed Chat Completions answer: text, calls, usage. */
export function chatReply(text: string, calls: readonly ScriptedCall[] = []): Reply {
  const words = text.match(/\s*\S+/g) ?? [];
  const toolCalls = calls.map(({ id, name, input }, index) => ({
    index,
    id: id ?? `call_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  return events(
    chunk({ role: "assistant", content: "" }),
    ...words.map((content) => chunk({ content })),
    ...toolCalls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, calls.length === 0 ? "stop" : "tool_calls"),
    { id: "chatcmpl-1", model: "the-model", choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } },
    "[DONE]",
  );
}

/** A call of demian's `bash`. */
export function bash(command: string): Reply {
  return chatReply("", [{ name: "bash", input: { command } }]);
}

/** Sends this text, then nothing until the client disconnects, or `more` lets it continue with `then`. */
export function stuck(
  text: string,
  more: Promise<void> = new Promise(() => undefined),
  then: Reply = chatReply(""),
): Reply {
  return async (exchange) => {
    exchange.head();
    await exchange.write(sse(chunk({ content: text })));
    await Promise.race([more, exchange.gone]);
    await then({ ...exchange, head: () => undefined });
  };
}

/** A streamed Anthropic answer. */
export function anthropicReply(text: string, calls: readonly ScriptedCall[] = []): Reply {
  const blocks = [
    ...(text === "" ? [] : [{ start: { type: "text", text: "" }, delta: { type: "text_delta", text } }]),
    ...calls.map(({ id, name, input }, index) => ({
      start: { type: "tool_use", id: id ?? `toolu_${index}`, name, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    })),
  ];
  return anthropicEvents(
    { type: "message_start", message: anthropicEnvelope() },
    ...blocks.flatMap(({ start, delta }, index) => [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: calls.length === 0 ? "end_turn" : "tool_use" },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  );
}

export function anthropicEvents(...list: ({ type?: string } & Record<string, unknown>)[]): Reply {
  return bytes(...list.map((event) => `event: ${event.type ?? "message"}\n${sse(event)}`));
}

export function anthropicEnvelope(): object {
  const usage = {
    input_tokens: 10,
    output_tokens: 1,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
  };
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "the-model",
    content: [],
    stop_reason: null,
    usage,
  };
}

function exchangeOf(request: ModelRequest, response: ServerResponse): Exchange {
  response.on("error", () => undefined);
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  return {
    request,
    head: (code = 200, headers = { "content-type": "text/event-stream" }) => {
      response.writeHead(code, headers);
      response.flushHeaders();
    },
    // The client has disconnected: send nothing, and do not wait for it.
    write: (piece) => new Promise((resolve) => response.write(piece, () => resolve())),
    end: () => void response.end(),
    cut: () => void response.destroy(),
    gone,
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
