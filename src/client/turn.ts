// One turn of a session, from our message to its `agent.result`. Frames of earlier turns that nobody read are
// passed over. If the daemon refuses the message, or the session ends first, reading it throws.
import { CodedError } from "../base/coded-error.ts";
import type { ResultFrame, SessionFrame } from "./frames.ts";
import { toError } from "./pending.ts";
import type { SessionStream } from "./stream.ts";

export class Turn implements AsyncIterable<SessionFrame> {
  readonly #frames: AsyncGenerator<SessionFrame, ResultFrame>;
  #result: ResultFrame | undefined;

  /** `floor` is asked once the message is written: frames up to it are older than the turn. */
  constructor(stream: SessionStream, sent: Promise<void>, floor: () => number) {
    sent.catch(() => undefined); // told to whoever reads the turn
    this.#frames = readTurn(stream, sent, floor);
  }

  /** Leaving the loop early loses nothing: `result()` or another loop goes on from there. */
  [Symbol.asyncIterator](): AsyncIterator<SessionFrame> {
    return { next: () => this.#next() };
  }

  /** Reads on to the end of the turn and gives its result, whatever its subtype. */
  async result(): Promise<ResultFrame> {
    while (this.#result === undefined) {
      const { done } = await this.#next();
      if (done && this.#result === undefined)
        throw new CodedError("turn_over", "reading this turn failed before");
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

/** An answer to our message, not a part of the stream: those have a seq, or say that they were not stored. */
function isRefusal(frame: SessionFrame): frame is ErrorFrame {
  return frame.type === "blemeesd.error" && frame.seq === undefined && frame.persisted === undefined;
}
