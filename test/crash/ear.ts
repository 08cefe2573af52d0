// A cheap client, for a thousand of them: it remembers only the last seq of each session, and whether one was
// skipped or came twice.
import { connect, type Socket } from "node:net";

const HEAD = /^\{"session_id":"([^"]+)","seq":(\d+),/;
const PATIENCE_MS = 60_000;

export class Ear {
  readonly socket: Socket;
  readonly faults: string[] = [];
  readonly lastSeq = new Map<string, number>();
  frames = 0;
  results = 0;
  watching = 0;
  opened = 0;
  /** Frames that report trouble: errors, gaps. */
  readonly troubles: string[] = [];
  #rest = "";
  #isGreeted = false;
  #waiting: { isDone(): boolean; resolve(): void }[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => this.#read(text));
    socket.on("error", () => undefined);
  }

  /** Resolves when the daemon has said hello. */
  static async connect(path: string): Promise<Ear> {
    const socket = connect(path);
    const ear = new Ear(socket);
    ear.send({ type: "blemeesd.hello", protocol: "blemees/2", client: "ear/1" });
    await ear.until(() => ear.#isGreeted);
    return ear;
  }

  send(frame: object): void {
    this.socket.write(`${JSON.stringify(frame)}\n`);
  }

  /** Looked at after every read. */
  until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`waited ${PATIENCE_MS} ms; ${this.troubles}`)),
        PATIENCE_MS,
      );
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push({ isDone, resolve: done });
    });
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
    this.#waiting = this.#waiting.filter(({ isDone, resolve }) => {
      if (!isDone()) return true;
      resolve();
      return false;
    });
  }

  #take(line: string): void {
    const match = HEAD.exec(line);
    if (match === null) {
      this.#reply(line);
      return;
    }
    const session_id = match[1] ?? "";
    const seq = Number(match[2]);
    const before = this.lastSeq.get(session_id);
    if (before !== undefined && seq !== before + 1)
      this.faults.push(`${session_id}: ${seq} behind ${before}`);
    this.lastSeq.set(session_id, seq);
    this.frames += 1;
    if (line.includes('"type":"agent.result"')) this.results += 1;
  }

  #reply(line: string): void {
    if (line.includes('"blemeesd.hello_ack"')) this.#isGreeted = true;
    else if (line.includes('"blemeesd.watching"')) this.watching += 1;
    else if (line.includes('"blemeesd.opened"')) this.opened += 1;
    else this.troubles.push(line);
  }
}
