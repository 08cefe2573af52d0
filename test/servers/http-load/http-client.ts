// A client of a real daemon's HTTP API on its Unix socket: one kept connection for questions, one for each stream.
import { Agent, type IncomingMessage, request } from "node:http";
import { SseReader } from "../http/sse-reader.ts";

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from a reply
  body: any;
}

export interface Ask {
  body?: object;
  headers?: Record<string, string>;
}

export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Rejects when the daemon dies before it has answered. */
  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const response = await this.#send(method, path, ask, this.#agent);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    return { status: response.statusCode ?? 0, body: JSON.parse(text) };
  }

  /** The body of a success; anything else is an error. */
  async get(path: string): Promise<Answer["body"]> {
    const { status, body } = await this.ask("GET", path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** The id of the new session. */
  async spawn(body: object): Promise<string> {
    const reply = await this.ask("POST", "/sessions", { body });
    if (reply.status !== 201) throw new Error(`spawn: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.session.session_id;
  }

  async stream(path: string, headers: Record<string, string> = {}): Promise<SseReader> {
    return new SseReader(await this.open(path, headers));
  }

  /** A stream that is not read yet. */
  open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    return this.#send("GET", path, { headers: { accept: "text/event-stream", ...headers } }, undefined);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, { body, headers }: Ask, agent: Agent | undefined) {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const place = { socketPath: this.#socketPath, agent: agent ?? (false as const) };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({ ...place, method, path, headers: { ...type, ...headers } });
      outgoing.once("response", resolve);
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
