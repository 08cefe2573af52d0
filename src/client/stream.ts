// The frames of one session between the socket and the program: drops what was seen before, keeps the rest in
// order until it is read, and knows how the stream ended. Bounded by its owner, who stops reading the socket.
import { CodedError } from "../base/coded-error.ts";
import type { MessageLost, SessionFrame } from "./frames.ts";

/** Why no more frames will come. */
export interface StreamEnd {
  code: string;
  message: string;
  /** True when the program could not have expected it; the iterator throws then. */
  isFailure: boolean;
}

interface Reader {
  resolve(result: IteratorResult<SessionFrame, undefined>): void;
  reject(error: CodedError): void;
}

const DONE = { done: true, value: undefined } as const;

export class SessionStream {
  readonly session_id: string;
  readonly #onChange: (difference: number) => void;
  #queue: SessionFrame[] = [];
  #head = 0;
  #reader: Reader | undefined;
  #end: StreamEnd | undefined;
  #discarding = false;
  /** The highest seq that was taken in; a resume asks for what is behind it. Undefined: live frames only. */
  #cursor: number | undefined;
  /** Set while a message is on its way: the seq behind which its turn begins. */
  #turnFloor: number | undefined;
  /** A turn has begun behind it: the message arrived. */
  #hasBegun = false;
  /** The daemon's last seq at the last (re)open: up to here frames are replay. */
  #replayEnd = 0;
  /** Set when no turn runs at the daemon: what is told if none has begun in the frames up to there. */
  #verdict: { last_seq: number; lost: MessageLost } | undefined;

  /** `onChange` hears how many frames more or fewer are waiting. */
  constructor(session_id: string, cursor: number | undefined, onChange: (difference: number) => void) {
    this.session_id = session_id;
    this.#cursor = cursor;
    this.#onChange = onChange;
  }

  get cursor(): number {
    return this.#cursor ?? 0;
  }

  get ended(): StreamEnd | undefined {
    return this.#end;
  }

  /** Where the unanswered turn began, or undefined when none is waited for. */
  get turnFloor(): number | undefined {
    return this.#turnFloor;
  }

  /** A message goes out now; frames up to the returned seq belong to earlier turns. */
  beginTurn(): number {
    this.#turnFloor = Math.max(this.cursor, this.#replayEnd);
    this.#hasBegun = false;
    this.#verdict = undefined;
    return this.#turnFloor;
  }

  /** The daemon (re)attached us and its stream is at `last_seq`. */
  attached(last_seq: number): void {
    // Fewer than we saw: the daemon lost its history, and what comes now is new.
    if (this.#cursor === undefined || last_seq < this.#cursor) this.#cursor = last_seq;
    this.#replayEnd = last_seq;
    this.#verdict = undefined;
  }

  /** No turn runs at the daemon, and its stream is at `last_seq`: if none has begun up to there, the message was lost. */
  loseTurnAt(last_seq: number, lost: MessageLost): void {
    this.#verdict = { last_seq, lost };
    this.#judge();
  }

  push(frame: SessionFrame): void {
    if (this.#end !== undefined || !this.#isNew(frame) || this.#discarding) return;
    if (this.#beginsTurn(frame)) this.#hasBegun = true;
    if (this.#settlesTurn(frame)) this.#turnFloor = undefined;
    this.#deliver(frame);
    this.#judge();
  }

  /** Nothing follows; what is queued can still be read. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) this.#finish(reader);
  }

  /** The program reads no more: frames are dropped from here on. */
  discard(): void {
    this.#discarding = true;
    this.#onChange(-this.#waiting);
    this.#queue = [];
    this.#head = 0;
  }

  next(): Promise<IteratorResult<SessionFrame, undefined>> {
    const frame = this.#queue[this.#head];
    if (frame !== undefined) {
      this.#advance();
      return Promise.resolve({ done: false, value: frame });
    }
    return new Promise((resolve, reject) => {
      if (this.#reader !== undefined) {
        const text = `the events of session ${this.session_id} are being read already; one reader at a time`;
        reject(new CodedError("reader_exists", text));
        return;
      }
      if (this.#end !== undefined) this.#finish({ resolve, reject });
      else this.#reader = { resolve, reject };
    });
  }

  #deliver(frame: SessionFrame): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: frame });
      return;
    }
    this.#queue.push(frame);
    this.#onChange(1);
  }

  /** Other frames prove nothing: an agent that was started again introduces itself. */
  #judge(): void {
    const verdict = this.#verdict;
    if (verdict === undefined) return;
    if (this.#turnFloor === undefined || this.#hasBegun) this.#verdict = undefined;
    else if (this.cursor >= verdict.last_seq) {
      this.#verdict = undefined;
      this.push(verdict.lost);
    }
  }

  #beginsTurn(frame: SessionFrame): boolean {
    if (frame.type !== "agent.notice" || frame.category !== "task_started") return false;
    return (frame.seq ?? 0) > (this.#turnFloor ?? Infinity);
  }

  /** A message is told lost once: a second word of it, after the next cut, would be taken for its repetition's. */
  #settlesTurn(frame: SessionFrame): boolean {
    if (frame.type === "client.message_lost") return true;
    if (frame.type !== "agent.result" || frame.seq === undefined) return false;
    return frame.seq > (this.#turnFloor ?? Infinity);
  }

  get #waiting(): number {
    return this.#queue.length - this.#head;
  }

  #isNew(frame: SessionFrame): boolean {
    if (frame.type === "blemeesd.replay_gap") {
      // A hole, or a history that starts again (a restarted daemon without a durable store).
      this.#cursor = Math.max(0, frame.first_available_seq - 1);
      return true;
    }
    const seq = "seq" in frame ? frame.seq : undefined;
    if (seq === undefined) return true;
    if (seq <= this.cursor) return false;
    this.#cursor = seq;
    return true;
  }

  #advance(): void {
    this.#head += 1;
    // Shifting an array of thousands for every frame would be quadratic.
    if (this.#head > 256 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#onChange(-1);
  }

  #finish(reader: Reader): void {
    if (this.#end?.isFailure) reader.reject(new CodedError(this.#end.code, this.#end.message));
    else reader.resolve(DONE);
  }
}
