// The Agent Client Protocol on a WebSocket (`/acp`): one message per text frame. At the other end of each connection is the
// program that editors run, `blemees acp`; here its messages only change their framing.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { LineSplitter } from "../../base/ndjson.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import { checkPart, readQuery } from "./query.ts";
import type { AcpProgram } from "./types.ts";

const PATH = "/acp";
/** As on stdin. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A client with more bytes waiting is fed later. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Each is a process of about 60 MB. */
const MAX_CONNECTIONS = 16;
/** How long the program may take to end with its connection. */
const END_LIMIT_MS = 5_000;
const NOTES_PER_MINUTE = 20;

const Query = z.strictObject({
  /** The agent of new sessions. */
  agent: z.string().min(1).max(100).optional(),
  /** Also speak the draft v2. */
  v2: z.literal("true").optional(),
});

const GOING_AWAY = 1001;
const UNSUPPORTED = 1003;
const FAILED = 1011;

export class AcpDoor {
  readonly #program: AcpProgram;
  readonly #log: Log;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #notes = new RateLimit(NOTES_PER_MINUTE, 60_000);
  #count = 0;

  constructor(program: AcpProgram, log: Log) {
    this.#program = program;
    this.#log = log;
  }

  /** The arguments of the program for this request. Throws if it is not one for us. */
  check({ url = "", method }: IncomingMessage, isAgent: boolean): string[] {
    const [path = "", search] = url.split("?", 2);
    if (path !== PATH || method !== "GET")
      throw new CodedError("not_found", `only ${PATH} accepts WebSockets, with GET`);
    // The program has the rights of the daemon's user.
    if (isAgent) throw new CodedError("forbidden", "agents use `blemees acp`, with their own rights");
    if (this.#count >= MAX_CONNECTIONS)
      throw new CodedError("too_many_streams", `there are already ${MAX_CONNECTIONS} connections to ${PATH}`);
    const { agent, v2 } = checkPart(Query, readQuery(search === undefined ? "" : `?${search}`), "query");
    return [...(agent === undefined ? [] : ["--agent", agent]), ...(v2 === undefined ? [] : ["--v2"])];
  }

  accept(incoming: IncomingMessage, socket: Duplex, head: Buffer, args: readonly string[]): void {
    this.#server.handleUpgrade(incoming, socket, head, (web) => this.#serve(web, args));
  }

  close(): void {
    for (const web of this.#server.clients) web.close(GOING_AWAY, "the daemon is shutting down");
  }

  #serve(web: WebSocket, args: readonly string[]): void {
    const { command, args: before, env } = this.#program;
    this.#count += 1;
    const child = spawn(command, [...before, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
    let ending: NodeJS.Timeout | undefined;
    this.#copyIn(web, child);
    this.#copyOut(web, child);
    web.on("close", () => {
      child.stdin.end();
      ending = setTimeout(() => child.kill("SIGKILL"), END_LIMIT_MS);
    });
    web.on("error", () => web.terminate()); // its close follows
    const end = (why: string | undefined): void => {
      this.#count -= 1;
      clearTimeout(ending);
      if (why === undefined) web.close();
      else web.close(FAILED, why);
    };
    let fault: string | undefined;
    child.once("error", (error) => {
      fault = toMessage(error);
      this.#log.error("acp.start_failed", { message: fault });
    });
    child.once("close", (code) =>
      end(fault === undefined && code === 0 ? undefined : "blemees acp has ended"),
    );
  }

  #copyIn(web: WebSocket, { stdin }: ChildProcessWithoutNullStreams): void {
    stdin.on("error", () => undefined); // the program has ended; that is reported
    stdin.on("drain", () => web.resume());
    web.on("message", (data, isBinary) => {
      if (isBinary) {
        web.close(UNSUPPORTED, "messages must be text");
        return;
      }
      // A line break is only space in JSON, but ends a message on stdin.
      const line = `${String(data).replace(/[\r\n]/g, " ")}\n`;
      if (!stdin.writableEnded && !stdin.write(line)) web.pause();
    });
  }

  #copyOut(web: WebSocket, { stdout, stderr }: ChildProcessWithoutNullStreams): void {
    const lines = new LineSplitter(MAX_MESSAGE_BYTES, {
      line: (text) =>
        web.send(text, () => {
          if (web.bufferedAmount < MAX_WAITING_BYTES) stdout.resume();
        }),
    });
    stdout.on("data", (chunk: Buffer) => {
      lines.push(chunk);
      if (web.bufferedAmount >= MAX_WAITING_BYTES) stdout.pause();
    });
    stderr.on("data", (chunk: Buffer) => {
      if (this.#notes.allow(Date.now()))
        this.#log.warn("acp.note", { text: chunk.toString().slice(0, 500).trim() });
    });
  }
}
