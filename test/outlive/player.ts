// One session of the proof: its messages are sent and its requests answered whatever happens to the daemon, and a client
// follows it over every restart.
import { type Client, CodedError, type HttpClient } from "../../src/client/index.ts";
import type { Answer, RequestRow } from "../../src/protocol/requests.ts";
import type { Random } from "../store/random.ts";
import type { Frame, Sent, Testimony } from "./checker.ts";
import type { Kind, Script } from "./kinds.ts";

export interface PlayerParts {
  name: string;
  kind: Kind;
  /** Every turn asks; otherwise none does. */
  asks: boolean;
  random: Random;
  /** One attempt each: the player repeats. */
  http: HttpClient;
  /** Reconnects as long as it takes. */
  follower: HttpClient | Client;
}

/** No daemon, or one that is going away. */
const AWAY: ReadonlySet<string> = new Set([
  "no_daemon",
  "connect_failed",
  "connection_lost",
  "daemon_shutdown",
]);
/** An agent that asks gets no messages before the answer. */
const TRY_LATER: ReadonlySet<string> = new Set([...AWAY, "pending_structured_request"]);
const RETRY_MS = 20;
const MIN_TICKS = 10;
const MAX_TICKS = 60;

export class Player {
  readonly name: string;
  readonly faults: string[] = [];
  readonly #parts: PlayerParts;
  readonly #sent: Sent[] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #seen = new Map<number, string>();
  readonly #closing = new AbortController();
  readonly #answering = new Set<Promise<void>>();
  /** Unanswered requests, and how many more faults they stay so. */
  readonly #open = new Map<string, { request: RequestRow; label: string; faults: number }>();
  readonly #looks = new Set<() => void>();
  #session_id = "";
  #delivered = "";
  #ended = 0;
  #isDraining = false;
  #following: Promise<void> | undefined;
  #playing: Promise<void> | undefined;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  get session_id(): string {
    return this.#session_id;
  }

  get frameCount(): number {
    return this.#seen.size;
  }

  get turnCount(): number {
    return this.#sent.length;
  }

  get requestCount(): number {
    return this.#answers.size;
  }

  /** Where it is, for the message of a test that waits too long. */
  get state(): string {
    const open = [...this.#open.values()].map(({ label }) => label);
    return `${this.name} (${this.#session_id}): ${this.#sent.length} sent, ${this.#ended} ended, frames ${this.#seen.size}, open [${open}], answering ${this.#answering.size}; last ${[...this.#seen.values()].at(-1)}`;
  }

  get isAsked(): boolean {
    return this.#open.size > 0;
  }

  /** Resolves when the agent has begun its first turn: from then on it must survive every daemon. */
  async begin(): Promise<void> {
    const { http, kind, name } = this.#parts;
    const script = this.#nextScript();
    const { session, message_id } = await http.spawn({
      ...{ backend: kind.backend, options: kind.options, name },
      prompt: kind.prompt(script),
    });
    this.#session_id = session.session_id;
    this.#sent.push({ message_id: String(message_id), script });
    this.#following = this.#guard(() => this.#follow());
    await this.until(() => [...this.#seen.values()].some((line) => line.includes('"agent.delta"')));
    this.#playing = this.#guard(() => this.#play());
  }

  /** A fault is about to happen: requests that have waited long enough are answered, maybe in the middle of it. */
  beforeFault(): void {
    for (const [request_id, asked] of this.#open) {
      asked.faults -= 1;
      if (asked.faults <= 0) this.#answer(request_id);
    }
  }

  /** No more messages. Resolves when every turn has ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    for (const request_id of this.#open.keys()) this.#answer(request_id);
    await this.#playing;
    await Promise.all(this.#answering);
  }

  /** Resolves when the client has seen everything that is stored. */
  async testify(): Promise<Testimony> {
    const history = await this.#readHistory();
    await this.until(() => this.#seen.size >= history.length);
    const { name, kind } = this.#parts;
    return { name, kind, history, sent: this.#sent, answers: this.#answers, seen: this.#seen };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  /** Looked at after every frame. */
  until(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isDone() && this.faults.length === 0) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }

  async #play(): Promise<void> {
    const { random } = this.#parts;
    while (!this.#isDraining && this.faults.length === 0) {
      // Several: all but the first are queued while the agent is busy.
      const count = random(3) === 0 ? 2 + random(2) : 1;
      for (let n = 0; n < count; n += 1) await this.#send();
      await this.until(() => this.#ended >= this.#sent.length);
    }
    await this.until(() => this.#ended >= this.#sent.length);
  }

  async #send(): Promise<void> {
    const { http, kind } = this.#parts;
    const script = this.#nextScript();
    const body = { text: kind.prompt(script), idempotency_key: script.label };
    const { input } = await insist(() => http.input(this.#session_id, body), TRY_LATER);
    this.#sent.push({ message_id: input.message_id, script });
  }

  #nextScript(): Script {
    const { name, asks, random } = this.#parts;
    const ticks = MIN_TICKS + random(MAX_TICKS - MIN_TICKS);
    return { label: `${name}-${this.#sent.length}`, asks, ticks: asks ? Math.ceil(ticks / 4) : ticks };
  }

  #answer(request_id: string): void {
    const asked = this.#open.get(request_id);
    if (asked === undefined) return;
    this.#open.delete(request_id);
    const { label } = asked;
    const { http, random, kind } = this.#parts;
    const isAccepted = random(2) === 0 || kind.isAccepted === true;
    const answer: Answer = isAccepted ? { decision: "accept" } : { decision: "decline", message: label };
    this.#answers.set(label, answer);
    const answered = this.#guard(async () => {
      await insist(() => http.respond(this.#session_id, request_id, answer));
    });
    this.#answering.add(answered);
    void answered.then(() => this.#answering.delete(answered));
  }

  async #follow(): Promise<void> {
    const { follower } = this.#parts;
    const { signal } = this.#closing;
    if ("watch" in follower) {
      const watch = await follower.watch(this.#session_id, { last_seen_seq: 0 });
      signal.addEventListener("abort", () => void watch.close().catch(() => undefined));
      for await (const frame of watch.events()) this.#take(frame as unknown as Frame);
      return;
    }
    for await (const item of follower.follow(this.#session_id, { since_seq: 0, signal })) {
      if (item.kind === "frame") this.#take(item.frame as Frame);
      else if (item.kind !== "catching_up") this.#fail(`${item.kind} ${JSON.stringify(item.data)}`);
    }
  }

  #take(frame: Frame): void {
    const { seq } = frame;
    if (frame.type === "blemeesd.catching_up") return;
    if (typeof seq !== "number") {
      this.#fail(`a frame without seq: ${JSON.stringify(frame)}`);
      return;
    }
    if (seq !== this.#seen.size + 1) this.#fail(`seq ${seq} after ${this.#seen.size}`);
    this.#seen.set(seq, JSON.stringify(frame));
    if (frame["category"] === "input_delivered") this.#noteDelivery(frame);
    else if (frame["category"] === "request_pending") this.#noteRequest(frame);
    else if (frame.type === "agent.result") this.#ended += 1;
    for (const look of this.#looks) look();
  }

  #noteDelivery(frame: Frame): void {
    const prompt = String(frame["text"]);
    // The message may be delivered before its sender gets the reply.
    this.#delivered = new RegExp(`${this.#parts.name}-\\d+`).exec(prompt)?.[0] ?? prompt;
  }

  #noteRequest(frame: Frame): void {
    const { request } = frame["data"] as { request: RequestRow };
    const faults = this.#parts.random(3);
    this.#open.set(request.request_id, { request, label: this.#delivered, faults });
    if (faults === 0 || this.#isDraining) this.#answer(request.request_id);
  }

  async #readHistory(): Promise<Frame[]> {
    const frames: Frame[] = [];
    for (;;) {
      const { events } = await this.#parts.http.events(this.#session_id, {
        since_seq: frames.length,
        limit: 1000,
      });
      if (events.length === 0) return frames;
      frames.push(...events.map(({ frame }) => frame as Frame));
    }
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#fail(String(error));
    }
  }

  #fail(fault: string): void {
    this.faults.push(`${this.name}: ${fault}`);
    for (const look of this.#looks) look();
  }
}

/** Repeats the call until a daemon answers it. */
export async function insist<T>(call: () => Promise<T>, codes = AWAY): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CodedError) || !codes.has(error.code)) throw error;
      await sleep(RETRY_MS);
    }
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
