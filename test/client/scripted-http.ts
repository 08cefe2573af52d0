// An HTTP server of a few lines on a Unix socket, for tests: answers as scripted, cuts connections, and is
// restarted like a daemon that was killed.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorBody } from "../../src/protocol/wire/http.ts";

export interface Received {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

/**
 * Returns the body of the answer, `cut` to drop the connection, or writes the response itself and returns undefined.
 */
export type Answerer = (
  received: Received,
  response: ServerResponse,
) => object | "cut" | undefined | Promise<object | "cut" | undefined>;

export class ScriptedHttp {
  readonly path: string;
  /** All requests, in order. */
  readonly received: Received[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), "bl-http-"));
  readonly #answer: Answerer;
  #server: Server;

  constructor(answer: Answerer) {
    this.path = join(this.#directory, "d.sock");
    this.#answer = answer;
    this.#server = this.#create();
  }

  static async start(answer: Answerer): Promise<ScriptedHttp> {
    const server = new ScriptedHttp(answer);
    await server.listen();
    return server;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.path, resolve));
  }

  /** Calls back when the n-th client from now on connects. */
  onConnection(n: number, callback: () => void): void {
    let count = 0;
    this.#server.on("connection", () => {
      count += 1;
      if (count === n) callback();
    });
  }

  /** Like a killed daemon: drops all connections and stops listening. */
  async kill(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#server = this.#create();
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #create(): Server {
    return createServer((request, response) => void this.#take(request, response));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const url = new URL(request.url ?? "/", "http://localhost");
    const received: Received = {
      method: request.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text === "" ? {} : JSON.parse(text),
    };
    this.received.push(received);
    const answer = await this.#answer(received, response);
    if (answer === "cut") request.socket.destroy();
    else if (answer !== undefined) {
      const status = "error" in answer ? 409 : 200;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
  }
}

export function anError(code: string, message = code, data?: Record<string, unknown>): object {
  return ErrorBody.parse({ error: { code, message, ...(data === undefined ? {} : { data }) } });
}

/** Begins a stream of server-sent events. */
export function beginEvents(response: ServerResponse): (event: string, data: object, id?: number) => void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (event, data, id) => {
    response.write(
      `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  };
}
