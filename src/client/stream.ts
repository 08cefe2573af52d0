// Buffers one session's frames until the program reads them: drops duplicates, keeps the order, and records how the
// stream ended. The client bounds it by pausing the socket.
import { CodedError } from "../base/coded-error.ts";
import type { MessageLost, SessionFrame } from "./frames.ts";

/** Why no more frames will come. */
export interface StreamEnd {
  code: string;
  message: string;
  /** True if unexpected; the iterator then throws. */
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
  /** The highest seq received; a resume asks for frames after it. Undefined: live frames only. */
  #cursor: number | undefined;
  /** Set while a message is in flight: its turn starts after this seq. */
  #turnFloor: number | undefined;
  /** A turn has started after it, so the message arrived. */
  #hasBegun = false;
  /** The daemon's last seq when last attached: frames up to here are replay. */
  #replayEnd = 0;
  /** Set if the daemon runs no turn: delivered unless a turn starts in the frames up to `last_seq`. */
  #verdict: { last_seq: number; lost: MessageLost } | undefined;

  /** `onChange` is called with the change in the number of unread frames. */
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

  /** Where the unfinished turn starts; undefined if there is none. */
  get turnFloor(): number | undefined {
    return this.#turnFloor;
  }

  /** Called when a message is sent; frames up to the returned seq belong to earlier turns. */
  beginTurn(): number {
    this.#turnFloor = Math.max(this.cursor, this.#replayEnd);
    this.#hasBegun = false;
    this.#verdict = undefined;
    return this.#turnFloor;
  }

  /** Called when the daemon has attached us and its stream is at `last_seq`. */
  markAttached(last_seq: number): void {
    // Lower than ours: the daemon lost its history, and everything from here on is new.
    if (this.#cursor === undefined || last_seq < this.#cursor) this.#cursor = last_seq;
    this.#replayEnd = last_seq;
    this.#verdict = undefined;
  }

  /** The daemon runs no turn and is at `last_seq`: unless one started by then, the message was lost. */
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

  /** No more frames are accepted; queued ones can still be read. */
  end(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) this.#finish(reader);
  }

  /** Drops queued and future frames. */
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
        const text = `the events of session ${this.session_id} already have a reader`;
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

  /** Only turn events count: a restarted agent sends other frames too. */
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

  /** A lost message is reported once: a second report could be mistaken for the loss of the resent message. */
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
      // Missing frames, or a history that starts over (a restarted daemon without a durable store).
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
    // Shifting the array for every frame would be quadratic.
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
