// A sink that records everything in order, and lets a test wait for it.
import type { Ask, BackendSink, Ended } from "../../src/backends/types.ts";
import type { AgentEvent, ResultEvent } from "../../src/protocol/events.ts";

export type Heard =
  | { kind: "event"; event: AgentEvent }
  | { kind: "turnStarted" }
  | { kind: "stderr"; line: string }
  | { kind: "authFailed"; message: string }
  | { kind: "calmed" }
  | { kind: "ask"; ask: Ask }
  | { kind: "withdrawn"; native_id: string; reason: string }
  | { kind: "nativeId"; id: string }
  | { kind: "ended"; why: Ended };

export class Recorder implements BackendSink {
  readonly heard: Heard[] = [];
  #waiting: Array<() => void> = [];

  event(event: AgentEvent): void {
    this.#add({ kind: "event", event });
  }
  turnStarted(): void {
    this.#add({ kind: "turnStarted" });
  }
  stderr(line: string): void {
    this.#add({ kind: "stderr", line });
  }
  authFailed(message: string): void {
    this.#add({ kind: "authFailed", message });
  }
  calmed(): void {
    this.#add({ kind: "calmed" });
  }
  ask(ask: Ask): void {
    this.#add({ kind: "ask", ask });
  }
  withdrawn(native_id: string, reason: string): void {
    this.#add({ kind: "withdrawn", native_id, reason });
  }
  nativeId(id: string): void {
    this.#add({ kind: "nativeId", id });
  }
  ended(why: Ended): void {
    this.#add({ kind: "ended", why });
  }

  get events(): AgentEvent[] {
    return this.heard.flatMap((heard) => (heard.kind === "event" ? [heard.event] : []));
  }

  get results(): ResultEvent[] {
    return this.events.filter((event) => event.type === "agent.result");
  }

  get asks(): Ask[] {
    return this.heard.flatMap((heard) => (heard.kind === "ask" ? [heard.ask] : []));
  }

  /** The ids of withdrawn requests. */
  get withdrawals(): string[] {
    return this.heard.flatMap((heard) => (heard.kind === "withdrawn" ? [heard.native_id] : []));
  }

  get ends(): Ended[] {
    return this.heard.flatMap((heard) => (heard.kind === "ended" ? [heard.why] : []));
  }

  /** The texts of all whole messages. */
  get texts(): string[] {
    return this.events.flatMap((event) =>
      event.type === "agent.message" ? event.content.map((block) => String(block["text"] ?? "")) : [],
    );
  }

  /** Resolves as soon as the condition is true for what was recorded so far. */
  async until(claim: (recorder: Recorder) => boolean): Promise<void> {
    while (!claim(this)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  untilResults(count: number): Promise<void> {
    return this.until((recorder) => recorder.results.length >= count);
  }

  /** The count-th request of the agent. */
  async untilAsk(count: number): Promise<Ask> {
    await this.until((recorder) => recorder.asks.length >= count);
    return this.asks[count - 1] as Ask;
  }

  untilEnded(): Promise<void> {
    return this.until((recorder) => recorder.ends.length > 0);
  }

  untilEvent(type: AgentEvent["type"]): Promise<void> {
    return this.until((recorder) => recorder.events.some((event) => event.type === type));
  }

  #add(heard: Heard): void {
    this.heard.push(heard);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
