// One message to one `claude` process, which is started for it and ends, with everything it started, when this is over.
import type { ChildExit } from "../../../base/child.ts";
import { ClaudeClient } from "../../../base/claude-wire/client.ts";
import type { ControlRequest } from "../../../base/claude-wire/control.ts";
import { STATE_EVENTS } from "../../../base/claude-wire/environment.ts";
import { ACK_LIMIT_MS, RESULT_LIMIT_MS } from "../../../base/claude-wire/interrupt.ts";
import type { JsonObject } from "../../../base/json.ts";
import { toUserTurn } from "./attachments.ts";
import { NOTICE_TYPE, toNoticeMessage } from "./notice.ts";
import { ASK_HOOKS, answerControl } from "./tool-requests.ts";
import {
  ClaudeFailure,
  type ClaudeMessage,
  type ClaudeOrder,
  describeFailure,
  MARKER,
  READY_LIMIT_MS,
  toStartFailure,
} from "./transport.ts";

export interface CliLaunch {
  command: string;
  args: readonly string[];
  maxLineBytes?: number;
}

/** A tool's result with an image is a few MB; no frame that a turn depends on is longer. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
const MAX_QUEUED = 1000;

type State = "starting" | "working" | "answered" | "ended";

export class CliRun {
  readonly #order: ClaudeOrder;
  readonly #launch: CliLaunch;
  readonly #client: ClaudeClient;
  #queue: ClaudeMessage[] = [];
  #wake: () => void = () => undefined;
  #state: State = "starting";
  #skipped = 0;
  /** Resolves with the result, or when there will be none. */
  readonly #answered: Promise<void>;
  #settleAnswered: () => void = () => undefined;

  constructor(order: ClaudeOrder, launch: CliLaunch) {
    this.#order = order;
    this.#launch = launch;
    this.#answered = new Promise((resolve) => {
      this.#settleAnswered = resolve;
    });
    this.#client = new ClaudeClient({
      name: "demian",
      maxLineBytes: launch.maxLineBytes ?? MAX_LINE_BYTES,
      frame: (frame, size) => this.#takeFrame(frame, size),
      skipped: (size, reason) => this.#skip(size, reason),
      request: (request) => void this.#answerRequest(request),
      errorLine: () => undefined,
      ended: () => this.#settleAnswered(),
    });
  }

  /** See `ClaudeTransport.run`. Call it once. */
  async *messages(): AsyncGenerator<ClaudeMessage> {
    const { signal } = this.#order;
    if (signal.aborted) return;
    let cancelling: Promise<void> | undefined;
    const cancel = () => {
      cancelling ??= this.#cancel();
    };
    try {
      const working = this.#work();
      // Awaited below; until then a failure must not count as unhandled.
      working.catch(() => undefined);
      signal.addEventListener("abort", cancel, { once: true });
      for (;;) {
        yield* this.#drain();
        if (this.#state === "ended") break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      await cancelling;
      yield* this.#drain();
      if (cancelling === undefined) await working;
    } finally {
      signal.removeEventListener("abort", cancel);
      // Also reached when the caller leaves the loop early.
      await this.#client.process.stop("now");
      this.#end();
    }
  }

  /** From the start of the process to its end. */
  async #work(): Promise<void> {
    try {
      await this.#start();
      const body = { hooks: ASK_HOOKS, appendSystemPrompt: this.#order.systemPrompt };
      // In the request rather than in the arguments, which every user of the machine can read.
      const ready = await this.#client.initialize(body, READY_LIMIT_MS);
      if (this.#order.signal.aborted) return;
      // It may have answered already: the session to resume does not exist.
      if (this.#state === "starting") {
        if (ready?.ok !== true) throw this.#notReady(ready?.error);
        this.#state = "working";
        const line = JSON.stringify(toUserTurn(this.#order));
        // The exit that follows a failed write says more than the failure.
        void this.#client.process.write(line).catch(() => undefined);
      }
      await this.#answered;
      if ((this.#state as State) !== "answered" && !this.#order.signal.aborted) throw await this.#toDeath();
      await this.#client.process.stop("finish");
    } finally {
      if (!this.#order.signal.aborted) this.#end();
    }
  }

  async #start(): Promise<void> {
    const { command, args } = this.#launch;
    const { cwd, env } = this.#order;
    const { [MARKER]: _outer, ...rest } = env;
    try {
      await this.#client.start({ command, args, cwd, marker: MARKER, env: { ...rest, ...STATE_EVENTS } });
    } catch (cause) {
      throw toStartFailure(cause);
    }
  }

  /** Reports each step, so that a slow end has an explanation. */
  async #cancel(): Promise<void> {
    const startedMs = performance.now();
    const steps: string[] = [];
    const before = this.#state;
    if (before === "ended") return;
    if (before === "working") steps.push(await this.#interrupt());
    const { process } = this.#client;
    const isOver = (this.#state as State) === "answered";
    await process.stop(isOver ? "finish" : "now", { finishMs: RESULT_LIMIT_MS });
    if (before === "starting") steps.push("it had not started");
    if (before === "answered") steps.push("it had answered");
    if (!isOver || process.exit.signal !== undefined) steps.push(this.#describeEnd());
    const tookMs = Math.round(performance.now() - startedMs);
    this.#push(toNoticeMessage({ kind: "cancelled", text: `${steps.join("; ")}; ${tookMs} ms` }));
    this.#end();
  }

  async #interrupt(): Promise<string> {
    // Its output must be read while it stops, even if the caller does not.
    this.#client.process.resume();
    const outcome = await this.#client.interrupt(this.#answered);
    switch (outcome.kind) {
      case "over":
        return this.#state === "answered" ? "it stopped when interrupted" : "it ended without a result";
      case "silent":
        return `it did not acknowledge the interrupt within ${ACK_LIMIT_MS} ms`;
      case "running":
        return `it acknowledged the interrupt but did not stop within ${RESULT_LIMIT_MS} ms`;
      case "refused":
        return `it refused the interrupt (${outcome.error})`;
    }
  }

  #describeEnd(): string {
    const { child, exit } = this.#client.process;
    if (child === undefined) return "no process was started";
    if (exit.signal === "SIGKILL") return "it ignored SIGTERM and was killed (SIGKILL)";
    if (exit.signal === "SIGTERM" || exit.code === 143) return "it was ended by SIGTERM";
    return `it ended with ${describeExit(exit)}`;
  }

  async #answerRequest(request: ControlRequest): Promise<void> {
    const { signal, canUseTool } = this.#order;
    const answer = await answerControl(request, (wanted, cancelled) =>
      canUseTool(wanted, AbortSignal.any([cancelled, signal])),
    );
    await this.#client.control.answer(request.request_id, answer).catch(() => undefined);
  }

  #takeFrame(frame: JsonObject, size: number): void {
    if (typeof frame["type"] !== "string") {
      this.#skip(size, "it has no type");
      return;
    }
    if (frame["type"] === NOTICE_TYPE) return;
    this.#push(frame as ClaudeMessage);
    if (frame["type"] === "result" && this.#state !== "ended") {
      this.#state = "answered";
      this.#settleAnswered();
    }
    const isIdle = frame["subtype"] === "session_state_changed" && frame["state"] === "idle";
    if (isIdle && this.#state === "working") this.#settleAnswered();
  }

  /** Warns once: a program that prints garbage prints more of it. */
  #skip(size: number, reason: string): void {
    this.#skipped += 1;
    if (this.#skipped > 1) return;
    const text = `skipped a line of ${size} characters from Claude Code: ${reason}`;
    this.#push(toNoticeMessage({ kind: "warning", text }));
  }

  #push(message: ClaudeMessage): void {
    this.#queue.push(message);
    if (this.#queue.length > MAX_QUEUED && !this.#order.signal.aborted) this.#client.process.pause();
    this.#wake();
  }

  *#drain(): Generator<ClaudeMessage> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      this.#client.process.resume();
      yield* batch;
    }
  }

  #end(): void {
    this.#state = "ended";
    this.#client.control.close();
    this.#wake();
  }

  async #toDeath(): Promise<ClaudeFailure> {
    const { process } = this.#client;
    const isRunning = !process.hasEnded;
    await process.stop("now");
    if (!isRunning)
      return this.#toFailure("died", `Claude Code ended without a result (${describeExit(process.exit)})`);
    const how = this.#skipped > 0 ? "with a result that could not be read" : "without a result";
    return this.#toFailure("died", `Claude Code ended its turn ${how}`);
  }

  #notReady(error = `it was not ready after ${READY_LIMIT_MS / 1000} s`): ClaudeFailure {
    const { hasEnded, exit } = this.#client.process;
    return this.#toFailure(
      "start_failed",
      `Claude Code did not start (${hasEnded ? describeExit(exit) : error})`,
    );
  }

  #toFailure(code: "start_failed" | "died", message: string): ClaudeFailure {
    return new ClaudeFailure(code, describeFailure(message, this.#client.process.lastLines));
  }
}

function describeExit({ code, signal }: ChildExit): string {
  return signal ?? `exit code ${code ?? "unknown"}`;
}
