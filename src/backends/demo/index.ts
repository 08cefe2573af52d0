// The built-in demo agent: scripted, needs no account, and says so. It lets a newcomer see a streamed answer, a
// tool call, an approval, an interrupt and a replay. It runs inside the daemon; there is no process.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { textOf, type UserMessage } from "../../protocol/content.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Ask, Backend, BackendSink, Run } from "../types.ts";
import { Gate } from "./gate.ts";
import { DEMO_MODEL, DEMO_TOOLS, performScript } from "./script.ts";

export const DEMO_VERSION = "1.0.0";
const NAME = "demo";

const Options = z.strictObject({
  cwd: z.string().optional(),
  model: z.string().optional(),
  /** Milliseconds between two words. */
  pace_ms: z.int().min(0).max(10_000).optional(),
});
type Options = z.infer<typeof Options>;

export function createDemoBackend(): Backend {
  return {
    name: NAME,
    options: Options,
    checkOptions(block) {
      const checked = Options.safeParse(block);
      if (checked.success) return checked.data;
      throw new CodedError("invalid_message", explainIssues(checked.error.issues, `/options/${NAME}`));
    },
    spawnOptions: ({ cwd, model }) => ({
      ...(cwd === undefined ? {} : { cwd }),
      ...(model === undefined ? {} : { model }),
    }),
    detect: () => Promise.resolve(DEMO_VERSION),
    start: (order, sink) => Promise.resolve(new DemoRun(order.options as Options, sink)),
  };
}

class DemoRun implements Run {
  readonly pid = undefined;
  readonly #options: Options;
  readonly #sink: BackendSink;
  readonly #gate = new Gate();
  /** Remembered until this run ends. */
  readonly #allowed = new Set<string>();
  #open: { id: string; settle(answer: Answer | undefined): void } | undefined;
  #asked = 0;
  #turn: { abort: AbortController; done: Promise<void> } | undefined;
  #isGreeted = false;
  #isEnded = false;

  constructor(options: Options, sink: BackendSink) {
    this.#options = options;
    this.#sink = sink;
  }

  send(message: UserMessage): Promise<void> {
    const abort = new AbortController();
    this.#turn = { abort, done: this.#perform(message, abort.signal) };
    return Promise.resolve();
  }

  async interrupt(): Promise<void> {
    this.#turn?.abort.abort();
    this.#gate.open();
    await this.#turn?.done;
  }

  answer(native_id: string, answer: Answer): Promise<boolean> {
    const open = this.#open?.id === native_id ? this.#open : undefined;
    open?.settle(answer);
    return Promise.resolve(open !== undefined);
  }

  pause(): void {
    this.#gate.shut();
  }

  resume(): void {
    this.#gate.open();
  }

  async stop(): Promise<void> {
    await this.interrupt();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#sink.ended({ expected: true, message: "stopped", code: 0 });
  }

  async #perform(message: UserMessage, signal: AbortSignal): Promise<void> {
    const startedMs = Date.now();
    const text = textOf(message, " ");
    await Promise.resolve(); // events come after `send` has returned, as with a real agent
    if (!this.#isGreeted) this.#emit(this.#init());
    this.#isGreeted = true;
    let words = 0;
    let result: Pick<ResultEvent, "subtype" | "error"> = { subtype: "success" };
    const person = {
      ask: (request: Omit<Ask, "native_id">) => this.#ask(request, signal),
      allowed: this.#allowed,
    };
    for await (const event of performScript(text, this.#options.pace_ms, signal, person)) {
      await this.#gate.passed();
      if (signal.aborted) break;
      if (event.type === "agent.result") {
        result = event;
        break;
      }
      if (event.type === "agent.delta") words += 1;
      this.#emit(event);
    }
    if (signal.aborted) result = { subtype: "interrupted" };
    this.#turn = undefined;
    const input_tokens = text.split(/\s+/).filter(Boolean).length;
    this.#emit({
      type: "agent.result",
      backend: NAME,
      ...result,
      duration_ms: Date.now() - startedMs,
      num_turns: 1,
      usage: { input_tokens, output_tokens: words },
    });
  }

  async #ask(request: Omit<Ask, "native_id">, signal: AbortSignal): Promise<Answer | undefined> {
    await this.#gate.passed();
    if (signal.aborted) return undefined;
    this.#asked += 1;
    const id = `ask-${this.#asked}`;
    return new Promise((resolve) => {
      const withdraw = () => {
        this.#open?.settle(undefined);
        this.#sink.withdrawn(id, "the turn was interrupted");
      };
      signal.addEventListener("abort", withdraw, { once: true });
      const settle = (answer: Answer | undefined) => {
        this.#open = undefined;
        signal.removeEventListener("abort", withdraw);
        resolve(answer);
      };
      this.#open = { id, settle };
      this.#sink.ask({ native_id: id, ...request });
    });
  }

  #init(): AgentEvent {
    const { model = DEMO_MODEL, cwd } = this.#options;
    return {
      type: "agent.system_init",
      backend: NAME,
      model,
      ...(cwd === undefined ? {} : { cwd }),
      tools: DEMO_TOOLS,
      capabilities: { demo: true },
    };
  }

  #emit(event: AgentEvent): void {
    this.#sink.event(event);
  }
}
