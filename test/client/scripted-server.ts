// A daemon of a few lines for tests: answers hello, passes on what clients send, sends what the test scripts.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineSplitter } from "../../src/base/ndjson.ts";

export type Json = Record<string, unknown>;

export const HELLO_ACK = {
  type: "blemeesd.hello_ack",
  daemon: "blemeesd/test",
  protocol: "blemees/2",
  pid: 1,
  backends: { demo: "1" },
};

/** One accepted connection, from the server's side. */
export class Peer {
  readonly socket: Socket;
  readonly #frames: Json[] = [];
  #waiter: (() => void) | undefined;

  constructor(socket: Socket, onFrame: (frame: Json, peer: Peer) => boolean) {
    this.socket = socket;
    const splitter = new LineSplitter(1 << 24, {
      line: (text) => {
        const frame = JSON.parse(text) as Json;
        if (onFrame(frame, this)) return;
        this.#frames.push(frame);
        this.#waiter?.();
      },
    });
    socket.on("data", (chunk: Buffer) => splitter.push(chunk));
    socket.on("error", () => undefined); // some tests are about clients that disconnect
  }

  /** The next frame that no automatic answer took. */
  async next(): Promise<Json> {
    while (this.#frames.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
    return this.#frames.shift() ?? {};
  }

  send(...frames: object[]): void {
    this.socket.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
  }

  drop(): void {
    this.socket.destroy();
  }
}

/** Answers a frame automatically: return the replies, or undefined to leave the frame to the test. */
export type Responder = (frame: Json) => object[] | undefined;

export class ScriptedServer {
  readonly path: string;
  readonly #directory: string;
  #server: Server;
  #peers: Peer[] = [];
  #accepted: Peer[] = [];
  #waiter: (() => void) | undefined;
  responder: Responder = () => undefined;
  hello: object | undefined = HELLO_ACK;

  constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), "blemees-test-"));
    this.path = join(this.#directory, "d.sock");
    this.#server = this.#create();
  }

  static async start(responder?: Responder): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    if (responder !== undefined) server.responder = responder;
    await server.listen();
    return server;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.path, resolve));
  }

  /** As a daemon that is restarted: drops all connections and listens again. */
  async restart(): Promise<void> {
    await this.#stop();
    this.#server = this.#create();
    await this.listen();
  }

  /** The next client that said hello. */
  async accept(): Promise<Peer> {
    while (this.#accepted.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
    const peer = this.#accepted.shift();
    if (peer === undefined) throw new Error("no connection");
    return peer;
  }

  async close(): Promise<void> {
    await this.#stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #create(): Server {
    return createServer((socket) => {
      const peer = new Peer(socket, (frame) => this.#answer(frame, peer));
      this.#peers.push(peer);
    });
  }

  #answer(frame: Json, peer: Peer): boolean {
    const isHello = frame["type"] === "blemeesd.hello";
    const replies = isHello ? this.hello && [this.hello] : this.responder(frame);
    if (replies !== undefined) peer.send(...replies);
    if (isHello) {
      this.#accepted.push(peer);
      this.#waiter?.();
    }
    return replies !== undefined;
  }

  #stop(): Promise<void> {
    for (const peer of this.#peers) peer.drop();
    this.#peers = [];
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Opens and closes any session; everything else is left to the test. */
export const openAnything: Responder = (frame) => {
  const { id, session_id, backend } = frame;
  if (frame["type"] === "blemeesd.open") {
    return [{ type: "blemeesd.opened", id, session_id, backend, last_seq: frame["last_seen_seq"] ?? 0 }];
  }
  if (frame["type"] === "blemeesd.close") return [{ type: "blemeesd.closed", id, session_id }];
  return undefined;
};

export function delta(session_id: string, seq: number, text = `t${seq}`): Json {
  return { type: "agent.delta", session_id, seq, backend: "demo", kind: "text", text };
}

export function result(session_id: string, seq: number, subtype = "success"): Json {
  return { type: "agent.result", session_id, seq, backend: "demo", subtype };
}
