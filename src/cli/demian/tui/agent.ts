// Adapts a runtime session to the session core: runtime events become agent events, prompts become requests, and each
// message is one turn.
import * as z from "zod";
import type { Backend, BackendSink, Run } from "../../../backends/types.ts";
import { toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { readText } from "../../../protocol/message-text.ts";
import type { Answer } from "../../../protocol/requests.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { PermissionAnswer, PermissionPrompt } from "../../../runtime/permissions/types.ts";
import type { DemianSession, TurnInput, TurnReport } from "../../../runtime/session-types.ts";
import type { UserQuestion } from "../../../runtime/tools/types.ts";
import type { Settings } from "../settings.ts";
import {
  type Described,
  describePermission,
  describeQuestion,
  readAnswer,
  toPermission,
} from "./requests.ts";
import { BACKEND, EventTranslator, toIntroduction, toResultEvents } from "./translate.ts";

/** The parts of a message besides its text. */
export type Extras = Omit<TurnInput, "text" | "signal">;

export interface LocalAgentOptions {
  session(): Promise<DemianSession>;
  /** For the next message only. */
  takeExtras(): Extras;
  /** Called before the result is published. */
  onReport(report: TurnReport): void;
}

const STOPPED: PermissionAnswer = { decision: "deny", stop: true };

export class LocalAgent implements Run {
  readonly pid = undefined;
  readonly backend: Backend = {
    name: BACKEND,
    options: z.looseObject({}),
    checkOptions: (block) => block,
    spawnOptions: ({ cwd, model }) => defined({ cwd, model }),
    detect: () => Promise.resolve(undefined),
    start: (_order, sink) => {
      this.#sink = sink;
      return Promise.resolve(this);
    },
  };
  readonly #options: LocalAgentOptions;
  readonly #frames = new EventTranslator();
  readonly #open = new Map<string, (answer: Answer) => void>();
  #sink: BackendSink | undefined;
  #session: DemianSession | undefined;
  #turn: Promise<void> | undefined;
  #asked = 0;

  constructor(options: LocalAgentOptions) {
    this.#options = options;
  }

  async send(message: UserMessage): Promise<void> {
    this.#session = await this.#options.session();
    const input = { text: readText(message, "\n"), ...this.#options.takeExtras() };
    this.#turn = this.#runTurn(this.#session, input);
  }

  readonly canSteer = true;

  steer(message: UserMessage, message_id: string): void {
    const text = readText(message, "\n");
    const steering = this.#session?.steer({ text }) ?? Promise.resolve("returned" as const);
    void steering.then((how) => this.#sink?.steered?.(message_id, how));
  }

  async interrupt(): Promise<void> {
    await this.#session?.abort();
    await this.#turn;
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    const open = this.#open.get(native_id);
    open?.(answer);
    return open !== undefined;
  }

  // The runtime cannot be paused, and the screen never falls behind.
  pause(): void {}
  resume(): void {}

  async stop(): Promise<void> {
    await this.#session?.close();
    await this.#turn;
    this.#sink?.ended({ expected: true, message: "closed" });
  }

  introduce(settings: Settings, cwd: string): void {
    this.#sink?.event(toIntroduction(settings, cwd));
  }

  see(event: RuntimeEvent): void {
    for (const frame of this.#frames.translate(event)) this.#sink?.event(frame);
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const asked = { ...describePermission(prompt), item_id: this.#frames.findCallId(prompt.callId) };
    return this.#ask(asked, signal, STOPPED, toPermission);
  }

  question(question: UserQuestion, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask(describeQuestion(question), signal, undefined, (answer) => {
      // To the runtime a cancelled question is just unanswered, so the turn is ended here.
      if ("decision" in answer && answer.decision === "cancel") void this.#session?.abort();
      return readAnswer(answer);
    });
  }

  #ask<T>(
    asked: Described & { item_id?: string },
    signal: AbortSignal,
    withdrawn: T,
    read: (answer: Answer) => T,
  ): Promise<T> {
    if (signal.aborted) return Promise.resolve(withdrawn);
    this.#asked += 1;
    const native_id = String(this.#asked);
    return new Promise((resolve) => {
      const settle = (value: T): void => {
        signal.removeEventListener("abort", onAbort);
        this.#open.delete(native_id);
        resolve(value);
      };
      const onAbort = (): void => {
        settle(withdrawn);
        this.#sink?.withdrawn(native_id, "the turn was interrupted");
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#open.set(native_id, (answer) => settle(read(answer)));
      this.#sink?.ask({ native_id, ...asked });
    });
  }

  async #runTurn(session: DemianSession, input: TurnInput): Promise<void> {
    const startedMs = Date.now();
    const report = await session.run(input).catch(failedReport);
    this.#options.onReport(report);
    for (const event of toResultEvents(report, Date.now() - startedMs)) this.#sink?.event(event);
  }
}

function failedReport(error: unknown): TurnReport {
  const usage = { inputTokens: 0, outputTokens: 0 };
  return { outcome: "failed", text: "", turns: 0, usage, message: toMessage(error) };
}
