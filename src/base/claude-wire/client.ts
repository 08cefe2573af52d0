// A `claude` process in stream-json mode: its frames, its control channel, and how it is started and interrupted.
import { AgentProcess } from "../agent-process.ts";
import { type ChildExit, type ChildOrder, waitAtMost } from "../child.ts";
import type { JsonObject } from "../json.ts";
import { FrameReader, type LineAside } from "../json-lines.ts";
import { defined } from "../values.ts";
import { type ControlAnswer, ControlChannel, type ControlRequest } from "./control.ts";
import { awaitInterrupt, type InterruptOutcome } from "./interrupt.ts";

export interface ClaudeClientParts {
  /** Prefix of the ids of our control requests. */
  name: string;
  maxLineBytes: number;
  /** The setting that limits a line, for messages. */
  limitName?: string;
  /** Any frame outside the control protocol. */
  frame(frame: JsonObject, size: number): void;
  skipped(size: number, reason: string, aside?: LineAside): void;
  request(request: ControlRequest): void;
  errorLine(line: string): void;
  /** Called once, after all output; the control channel is still open. */
  ended(exit: ChildExit, expected: boolean): void;
  /** Control requests that were sent to this process before. */
  requestCount?: number | undefined;
}

/** How long claude may take to write its transcript once it was asked to finish. */
const FINISH_LIMIT_MS = 5000;

export class ClaudeClient {
  readonly control: ControlChannel;
  readonly process: AgentProcess;
  readonly #reader: FrameReader;

  constructor(parts: ClaudeClientParts) {
    const { name, limitName } = parts;
    this.#reader = new FrameReader(parts.maxLineBytes, {
      ...defined({ limitName }),
      frame: (frame, size) => {
        if (!this.control.take(frame)) parts.frame(frame, size);
      },
      skipped: (size, reason, aside) => parts.skipped(size, reason, aside),
    });
    this.process = new AgentProcess({
      name: "claude",
      reader: this.#reader,
      finishMs: FINISH_LIMIT_MS,
      errorLine: (line) => parts.errorLine(line),
      ended: (exit, expected) => {
        parts.ended(exit, expected);
        this.control.close();
      },
    });
    const channel = {
      name,
      write: (line: string) => this.process.write(line),
      request: (request: ControlRequest) => parts.request(request),
    };
    this.control = new ControlChannel(channel, parts.requestCount);
  }

  /** While a frame is handled: bytes from the start of its line to the last newline so far; 0 if unknown. */
  get bytesFromFrame(): number {
    return this.#reader.bytesFromFrame;
  }

  /** Throws `spawn_failed`. */
  start(order: ChildOrder): Promise<void> {
    return this.process.start(order);
  }

  /** Undefined if claude did not answer in time. */
  initialize(body: JsonObject, limitMs: number): Promise<ControlAnswer | undefined> {
    return waitAtMost(limitMs, this.control.request({ subtype: "initialize", ...body }));
  }

  /** Sends a control request; a claude that does not answer in time has refused it. */
  async ask(request: JsonObject, limitMs: number): Promise<ControlAnswer> {
    const answer = await waitAtMost(limitMs, this.control.request(request));
    return answer ?? { ok: false, error: "it did not answer in time" };
  }

  interrupt(turnOver: Promise<void>): Promise<InterruptOutcome> {
    return awaitInterrupt(this.control.request({ subtype: "interrupt" }), turnOver);
  }
}
