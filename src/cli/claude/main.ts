// `blemees claude`: a program with Claude Code's command line and stream-json, for programs that start claude, such as those
// on the Claude Agent SDK. The session runs in the daemon, with its log, requests and budgets.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { ControlChannel, type ControlRequest } from "../../base/claude-wire/control.ts";
import { toMessage } from "../../base/coded-error.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { JsonObject } from "../../base/json.ts";
import { FrameReader } from "../../base/json-lines.ts";
import { asObject, asString, defined } from "../../base/values.ts";
import { type Client, connect, type HttpClient, type SessionHandle } from "../../client/index.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { type ClaudeArguments, readArguments } from "./arguments.ts";
import { type Callbacks, listenForCallbacks } from "./callbacks.ts";
import { findConversation, findLastSeq } from "./conversation.ts";
import { describeClaude, ProgramSession } from "./session.ts";
import { needsCallbacks, toSessionOptions } from "./session-options.ts";

export interface ClaudeProgramOptions {
  http: HttpClient;
  /** `blemees/1.0`. */
  name: string;
  cwd: string;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
  note(text: string): void;
}

/** As much as claude takes. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Resolves with the exit code when the program has closed its end and its last turn is over. */
export async function runClaude(argv: readonly string[], options: ClaudeProgramOptions): Promise<number> {
  const given = readArguments(argv);
  const program = new Program(given, options);
  return program.run();
}

class Program {
  readonly #given: ClaudeArguments;
  readonly #options: ClaudeProgramOptions;
  readonly #channel: ControlChannel;
  /** Frames of the program, one after the other; answers do not wait. */
  #handling: Promise<void> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();
  #session: ProgramSession | undefined;
  #callbacks: Callbacks | undefined;
  #id = "";
  #client: Client | undefined;
  #handle: SessionHandle | undefined;
  readonly #broken = createDeferred<void>();
  #isClosing = false;
  #exitCode = 0;

  constructor(given: ClaudeArguments, options: ClaudeProgramOptions) {
    this.#given = given;
    this.#options = options;
    this.#channel = new ControlChannel({
      name: "blemees",
      write: (line) => this.#writeLine(line),
      request: (request) => this.#queue(() => this.#control(request)),
    });
  }

  async run(): Promise<number> {
    const { input, signal, output } = this.#options;
    output.on("error", () => undefined); // the program is gone; its end of stdin follows
    const reader = new FrameReader(MAX_LINE_BYTES, {
      frame: (frame) => {
        if (!this.#channel.take(frame)) this.#queue(() => this.#take(frame));
      },
      skipped: (size, reason) => this.#options.note(`a line of ${size} bytes was skipped: ${reason}`),
    });
    input.on("data", (chunk: Buffer) => reader.push(chunk));
    const aborted = signal.aborted ? Promise.resolve() : once(signal, "abort");
    const closed = once(input, "end").then(() => {
      reader.end();
    });
    try {
      await Promise.race([this.#untilDone(closed), aborted]);
      if (signal.aborted) await this.#session?.control({ subtype: "interrupt" }).catch(() => undefined);
    } finally {
      input.destroy();
      await this.#close();
    }
    return this.#exitCode;
  }

  async #untilDone(closed: Promise<void>): Promise<void> {
    await Promise.race([closed, this.#broken.promise]);
    await this.#handling;
    await this.#session?.untilIdle();
  }

  /** The session cannot be followed any longer, or a message could not be delivered. */
  #break(): void {
    if (this.#isClosing) return;
    this.#exitCode = 1;
    this.#broken.resolve();
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#session?.close();
    await this.#writing;
    this.#channel.close();
    // As with claude, the agent ends with the program; the session can be resumed.
    const isDeleted = this.#given.options["session_persistence"] === false;
    await this.#handle?.close({ delete: isDeleted }).catch(() => undefined); // another client has closed it
    await this.#client?.close();
    await this.#callbacks?.close();
  }

  #queue(handle: () => Promise<void>): void {
    this.#handling = this.#handling.then(handle).catch((error: unknown) => {
      this.#options.note(toMessage(error));
      this.#break();
    });
  }

  async #control({ request_id, subtype, body }: ControlRequest): Promise<void> {
    try {
      const response =
        subtype === "initialize" ? await this.#initialize(body) : await (await this.#open({})).control(body);
      await this.#channel.answer(request_id, { ok: true, response });
    } catch (error) {
      this.#channel.refuse(request_id, toMessage(error));
    }
  }

  async #initialize(init: JsonObject): Promise<JsonObject> {
    if (this.#session !== undefined) throw new Error("initialize: the session has begun");
    await this.#open(init);
    return describeClaude(this.#options.http, this.#id);
  }

  async #take(frame: JsonObject): Promise<void> {
    if (frame["type"] !== "user") {
      this.#options.note(`a frame of type ${JSON.stringify(frame["type"])} was skipped`);
      return;
    }
    const session = await this.#open({});
    const { content } = asObject(frame["message"]);
    await session.send({ role: "user", content } as UserMessage);
  }

  /** With the first thing that the program says. */
  async #open(init: JsonObject): Promise<ProgramSession> {
    if (this.#session !== undefined) return this.#session;
    const { http, name, cwd, note } = this.#options;
    const given = this.#given;
    if (needsCallbacks(init))
      this.#callbacks = await listenForCallbacks((request) => this.#channel.request(request));
    const options = toSessionOptions(given, init, { cwd, places: this.#callbacks });
    const resumed = await findConversation(http, given, cwd);
    const id = resumed ?? given.session_id ?? randomUUID();
    this.#client = await connect({ socket: http.socket, client: name });
    const before = resumed === undefined ? undefined : await findLastSeq(http, resumed);
    this.#handle = await this.#client.open({
      ...{ session_id: id, backend: "claude", options, resume: resumed !== undefined },
      ...defined({ last_seen_seq: before }),
      // Every client of the daemon may answer: the first answer counts.
      answers: "any",
    });
    this.#id = id;
    this.#session = new ProgramSession({
      http,
      session_id: id,
      events: this.#handle.events(),
      since_seq: this.#handle.last_seen_seq,
      showsPartial: given.showsPartial,
      answersRequests: given.options["approvals"] === true,
      write: (frame) => this.#writeLine(JSON.stringify(frame)),
      ask: (request, request_id) => this.#channel.request(request, request_id),
      note,
    });
    void this.#session.followed.then(() => this.#break());
    return this.#session;
  }

  #writeLine(line: string): Promise<void> {
    const { output } = this.#options;
    this.#writing = this.#writing.then(async () => {
      if (output.writable && !output.write(`${line}\n`))
        await Promise.race([once(output, "drain"), once(output, "close")]);
    });
    return this.#writing;
  }
}

/** The version of the claude that sessions run, as claude prints it. */
export async function describeVersion(http: HttpClient, version: string): Promise<string> {
  const { backends } = await http.status();
  const claude = asString((backends as Record<string, unknown>)["claude"]);
  return `${claude ?? "0.0.0"} (Claude Code, by blemees ${version})`;
}
