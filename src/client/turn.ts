// One turn, from the message to its `agent.result`. Skips unread frames of earlier turns. Reading throws if the daemon
// refuses the message or the session ends first.
import { CodedError } from "../base/coded-error.ts";
import type { ResultFrame, SessionFrame } from "./frames.ts";
import { toError } from "./pending.ts";
import type { SessionStream } from "./stream.ts";

export class Turn implements AsyncIterable<SessionFrame> {
  readonly #frames: AsyncGenerator<SessionFrame, ResultFrame>;
  #result: ResultFrame | undefined;

  /** `floor` is read after the message is written: frames up to it belong to earlier turns. */
  constructor(stream: SessionStream, sent: Promise<void>, floor: () => number) {
    sent.catch(() => undefined); // reported to the reader of the turn
    this.#frames = readTurn(stream, sent, floor);
  }

  /** Leaving the loop early loses nothing: `result()` or another loop continues. */
  [Symbol.asyncIterator](): AsyncIterator<SessionFrame> {
    return { next: () => this.#next() };
  }

  /** Reads to the end of the turn and returns its result, of any subtype. */
  async result(): Promise<ResultFrame> {
    while (this.#result === undefined) {
      const { done } = await this.#next();
      if (done && this.#result === undefined)
        throw new CodedError("turn_over", "reading this turn failed earlier");
    }
    return this.#result;
  }

  async #next(): Promise<IteratorResult<SessionFrame, undefined>> {
    const { done, value } = await this.#frames.next();
    if (!done) {
      if (value.type === "agent.result") this.#result = value;
      return { done: false, value };
    }
    return { done: true, value: undefined };
  }
}

async function* readTurn(
  stream: SessionStream,
  sent: Promise<void>,
  floor: () => number,
): AsyncGenerator<SessionFrame, ResultFrame> {
  await sent;
  for (;;) {
    const { done, value: frame } = await stream.next();
    if (done)
      throw new CodedError(stream.ended?.code ?? "session_closed", stream.ended?.message ?? "session closed");
    if ("seq" in frame && frame.seq !== undefined && frame.seq <= floor()) continue;
    if (frame.type === "client.message_lost") throw new CodedError("message_lost", frame.message);
    if (isRefusal(frame)) throw toError(frame);
    yield frame;
    if (frame.type === "agent.result") return frame;
  }
}

type ErrorFrame = Extract<SessionFrame, { type: "blemeesd.error" }>;

/** A reply to our message. Frames of the stream have a seq or `persisted: false`. */
function isRefusal(frame: SessionFrame): frame is ErrorFrame {
  return frame.type === "blemeesd.error" && frame.seq === undefined && frame.persisted === undefined;
}
