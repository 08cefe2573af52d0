// A conversation that was started outside, for the session screen: it is read from the agent's own transcript. The first
// message continues it as a session of the daemon, which has a driver of its own.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { HttpClient } from "../../client/http.ts";
import type { RequestRow, ViewInput } from "../../client/view/types.ts";
import type { OutsideDriver, SessionDriver, ShownTranscript } from "../types.ts";

/** What is read at first, and then of all at once. */
const TAIL = 500;
const PAGE = 2_000;
/** Events shown before a place. */
const BEFORE = 100;

export function createOutsideDriver(http: HttpClient): OutsideDriver {
  return {
    list: (after) => http.transcripts(after === undefined ? {} : { after }),
    read: (transcript, onContinued, at_seq) => new TranscriptDriver(http, transcript, onContinued, at_seq),
    adopt: (transcript) => adopt(http, transcript),
  };
}

async function adopt(
  http: HttpClient,
  { backend, session_id }: ShownTranscript,
  prompt?: string,
): Promise<string> {
  const order = { backend, transcript: session_id, ...(prompt === undefined ? {} : { prompt }) };
  return (await http.spawn(order)).session.session_id;
}

class TranscriptDriver implements SessionDriver {
  readonly session_id: string;
  readonly title: string;
  readonly commands = [];
  readonly pickers = [];
  readonly requestFocus = "asked";
  readonly at_seq?: number;
  readonly #http: HttpClient;
  readonly #transcript: ShownTranscript;
  readonly #onContinued: (session_id: string) => void;
  #listener: (inputs: readonly ViewInput[]) => void = () => undefined;
  #isClosed = false;
  /** All of it was read. */
  #isWhole = false;

  constructor(
    http: HttpClient,
    transcript: ShownTranscript,
    onContinued: (session_id: string) => void,
    at_seq: number | undefined,
  ) {
    if (at_seq !== undefined) this.at_seq = at_seq;
    this.#http = http;
    this.#transcript = transcript;
    this.#onContinued = onContinued;
    this.session_id = transcript.session_id;
    this.title = transcript.title ?? transcript.session_id;
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#listener = (inputs) => {
      if (!this.#isClosed) listener(inputs);
    };
    void this.#read();
  }

  async send(text: string): Promise<undefined> {
    const session_id = await adopt(this.#http, this.#transcript, text);
    if (!this.#isClosed) this.#onContinued(session_id);
    return undefined;
  }

  async loadEarlier(): Promise<boolean> {
    if (this.#isWhole) return false;
    this.#isWhole = true;
    this.#listener([{ kind: "reset" }, ...(await this.#readAfter(0)), ...this.#describe()]);
    return true;
  }

  settings(): readonly string[] {
    return ["started outside"];
  }

  interrupt = refuseUntilContinued;
  respond = refuseUntilContinued;
  cancelQueued = refuseUntilContinued;
  wholeRequest = (_request: RequestRow): Promise<RequestRow> => refuseUntilContinued();

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async #read(): Promise<void> {
    try {
      const inputs = await this.#readFirst();
      this.#listener([...inputs, ...this.#describe()]);
    } catch (error) {
      const line = { kind: "local", level: "error", text: toMessage(error), at_ms: Date.now() } as const;
      this.#listener([line, { kind: "link", state: "live" }]);
    }
  }

  /** The end; or everything from a little before the place. */
  async #readFirst(): Promise<ViewInput[]> {
    if (this.at_seq !== undefined) {
      const since_seq = Math.max(0, this.at_seq - BEFORE);
      this.#isWhole = since_seq === 0;
      return this.#readAfter(since_seq);
    }
    const { inputs } = await this.#readEvents({ tail: true, limit: TAIL });
    this.#isWhole = inputs.length < TAIL;
    return inputs;
  }

  async #readAfter(first: number): Promise<ViewInput[]> {
    const inputs: ViewInput[] = [];
    for (let since_seq = first, isEnd = false; !isEnd; ) {
      const page = await this.#readEvents({ since_seq, limit: PAGE });
      inputs.push(...page.inputs);
      since_seq = page.next_seq;
      isEnd = page.is_end;
    }
    return inputs;
  }

  #describe(): ViewInput[] {
    const { provider, open_in_pid } = this.#transcript;
    const text =
      open_in_pid === undefined
        ? `started outside with ${provider}: a message continues it here`
        : `started outside with ${provider}, and open in process ${open_in_pid}: close it there to continue here`;
    return [
      { kind: "local", level: "info", text, at_ms: Date.now() },
      { kind: "link", state: "live" },
    ];
  }

  async #readEvents(query: { since_seq?: number; limit: number; tail?: boolean }) {
    const { session_id, backend } = this.#transcript;
    const { events, next_seq, is_end } = await this.#http.transcriptEvents(session_id, {
      agent: backend,
      ...query,
    });
    const inputs = events.map(
      ({ seq, frame, type, timestamp_ms }): ViewInput => ({
        kind: "frame",
        seq,
        frame: { ...frame, type },
        ...(timestamp_ms === null ? {} : { at_ms: timestamp_ms }),
      }),
    );
    return { inputs, next_seq, is_end };
  }
}

async function refuseUntilContinued(): Promise<never> {
  throw new CodedError("not_continued", "this conversation was started outside: a message continues it here");
}
