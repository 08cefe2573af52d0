// A client that works with raw frames: every frame is kept, and `next` waits for the one you want.
import { connect, type Socket } from "node:net";
import { PATIENCE_MS } from "./patience.ts";

export type Frame = Record<string, unknown> & { type: string };

interface Waiter {
  wants(frame: Frame): boolean;
  resolve(frame: Frame): void;
  reject(error: Error): void;
}

export class RawClient {
  /** Everything received, in order. */
  readonly frames: Frame[] = [];
  readonly socket: Socket;
  readonly closed: Promise<void>;
  /** How long `next` waits for a frame. */
  patienceMs = PATIENCE_MS;
  #read = 0;
  #waiter: Waiter | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#isClosed = true;
        this.#waiter?.reject(new Error("the connection was closed"));
        resolve();
      });
    });
  }

  static connect(path: string): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new RawClient(socket));
      });
    });
  }

  send(frame: object): void {
    this.socket.write(`${JSON.stringify(frame)}\n`);
  }

  sendRaw(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The next matching frame after the last one returned; frames before it are skipped. */
  async next(wants: string | ((frame: Frame) => boolean)): Promise<Frame> {
    const fits = typeof wants === "string" ? (frame: Frame) => frame.type === wants : wants;
    while (this.#read < this.frames.length) {
      const frame = this.frames[this.#read++];
      if (frame !== undefined && fits(frame)) return frame;
    }
    if (this.#isClosed) throw new Error("the connection was closed");
    return new Promise<Frame>((resolve, reject) => {
      const timer = setTimeout(() => {
        const seen = this.frames.slice(-5).map((frame) => JSON.stringify(frame).slice(0, 200));
        reject(
          new Error(
            `no such frame within ${this.patienceMs} ms (${String(wants)}); last: ${seen.join("\n")}`,
          ),
        );
      }, this.patienceMs);
      this.#waiter = {
        wants: fits,
        resolve: (frame) => {
          clearTimeout(timer);
          resolve(frame);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }

  /** Sends a request with an id and waits for the reply or the error with that id. */
  async request(frame: Record<string, unknown> & { id?: string }): Promise<Frame> {
    const id = frame.id ?? `r${Math.random().toString(36).slice(2)}`;
    this.send({ ...frame, id });
    return this.next((candidate) => candidate["id"] === id);
  }

  /** Opens a session and returns the `opened` (or error) frame. */
  open(
    session_id: string,
    options: Record<string, unknown> = {},
    more: Record<string, unknown> = {},
  ): Promise<Frame> {
    const frame = { type: "blemeesd.open", session_id, backend: "claude", options: { claude: options } };
    return this.request({ ...frame, ...more });
  }

  /** Sends a user message and waits for the turn's result. */
  async turn(session_id: string, content: unknown): Promise<Frame> {
    this.send({ type: "agent.user", session_id, message: { role: "user", content } });
    return this.next((frame) => frame.type === "agent.result" && frame["session_id"] === session_id);
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const at = this.#rest.indexOf(10);
      if (at === -1) return;
      const frame = JSON.parse(this.#rest.subarray(0, at).toString("utf8")) as Frame;
      this.#rest = this.#rest.subarray(at + 1);
      this.frames.push(frame);
      this.#offer();
    }
  }

  #offer(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    while (this.#read < this.frames.length) {
      const frame = this.frames[this.#read++];
      if (frame === undefined || !waiter.wants(frame)) continue;
      this.#waiter = undefined;
      waiter.resolve(frame);
      return;
    }
  }
}
