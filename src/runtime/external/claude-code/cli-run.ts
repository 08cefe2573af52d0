// One message to one `claude` process: started for it, and gone with everything that it started when this is over.
import { type Child, type ChildExit, startChild, within } from "../../../base/child.ts";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { FrameReader } from "../../../base/json-lines.ts";
import { userTurn } from "./attachments.ts";
import { CliControl, type ControlAnswer } from "./cli-control.ts";
import { readCliLines } from "./cli-lines.ts";
import { NOTICE_TYPE, noticeMessage } from "./notice.ts";
import { StderrTail } from "./stderr-tail.ts";
import {
  ACK_LIMIT_MS,
  ClaudeFailure,
  type ClaudeMessage,
  type ClaudeOrder,
  FINISH_LIMIT_MS,
  READY_LIMIT_MS,
  RESULT_LIMIT_MS,
} from "./transport.ts";

export interface CliLaunch {
  command: string;
  args: readonly string[];
  /** Of one line; default: MAX_LINE_BYTES. */
  maxLineBytes?: number;
}

/** Marks what claude starts: its commands leave its process group and survive it (2.1.197). */
const MARKER = "DEMIAN_CLAUDE_ID";
/** A closed pipe and the exit that explains it may come in either order. */
const EXIT_FOLLOWS_MS = 500;
const MAX_WAITING = 1000;

type State = "starting" | "working" | "answered" | "ended";

export class CliRun {
  readonly #order: ClaudeOrder;
  readonly #launch: CliLaunch;
  readonly #control: CliControl;
  readonly #lines: FrameReader;
  readonly #stderr = new StderrTail();
  #queue: ClaudeMessage[] = [];
  #wake: () => void = () => undefined;
  #child: Child | undefined;
  #started: Promise<void> = Promise.resolve();
  #exit: ChildExit | undefined;
  #state: State = "starting";
  #skipped = 0;
  /** Resolves with the result, or when there will be none. */
  readonly #answered: Promise<void>;
  #isAnswered: () => void = () => undefined;

  constructor(order: ClaudeOrder, launch: CliLaunch) {
    this.#order = order;
    this.#launch = launch;
    this.#answered = new Promise((resolve) => {
      this.#isAnswered = resolve;
    });
    this.#lines = readCliLines(
      { message: (message) => this.#message(message), skipped: (reason) => this.#skip(reason) },
      launch.maxLineBytes,
    );
    this.#control = new CliControl({
      write: (line) => this.#write(line),
      canUseTool: (request, signal) => order.canUseTool(request, AbortSignal.any([signal, order.signal])),
    });
  }

  /** See `ClaudeTransport.run`. To be asked for once. */
  async *messages(): AsyncGenerator<ClaudeMessage> {
    const { signal } = this.#order;
    if (signal.aborted) return;
    let cancelling: Promise<void> | undefined;
    const cancel = () => {
      cancelling ??= this.#cancel();
    };
    try {
      const working = this.#work();
      // It is awaited below; until then a failure must not be nobody's.
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
      // Nobody wants the rest: whoever left the loop early, too.
      await this.#child?.stop();
      this.#end();
    }
  }

  /** From the start of the process to its end. */
  async #work(): Promise<void> {
    try {
      this.#started = this.#start();
      await this.#started;
      const ready = await this.#initialize();
      if (this.#order.signal.aborted) return;
      // It may have answered before it was asked: there is no such session.
      if (this.#state === "starting") {
        if (!ready.ok) throw this.#notReady(ready.error);
        this.#state = "working";
        this.#write(JSON.stringify(userTurn(this.#order)));
      }
      await this.#answered;
      // Read again: it was assigned by a message meanwhile.
      if ((this.#state as State) !== "answered" && !this.#order.signal.aborted) throw await this.#death();
      await this.#child?.stop({ finishMs: FINISH_LIMIT_MS });
    } finally {
      if (!this.#order.signal.aborted) this.#end();
    }
  }

  async #start(): Promise<void> {
    const { command, args } = this.#launch;
    const { cwd, env } = this.#order;
    const { [MARKER]: _outer, ...rest } = env;
    try {
      this.#child = await startChild(
        // Says when it has nothing more to do: so a result that could not be read is noticed.
        { command, args, cwd, marker: MARKER, env: { ...rest, CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } },
        {
          output: (chunk) => this.#lines.push(chunk),
          errorLine: (line) => this.#stderr.take(line),
          outputEnd: () => void this.#outputEnd(),
        },
      );
    } catch (cause) {
      const isMissing = cause instanceof CodedError && cause.data?.["reason"] === "not_found";
      throw new ClaudeFailure(isMissing ? "not_installed" : "start_failed", messageOf(cause), cause);
    }
    void this.#child.done.then((exit) => this.#ended(exit));
  }

  async #initialize(): Promise<ControlAnswer> {
    const answer = this.#control.initialize(this.#order.systemPrompt);
    let told: ControlAnswer = { ok: false, error: `it was not ready after ${READY_LIMIT_MS / 1000} s` };
    await within(
      READY_LIMIT_MS,
      answer.then((given) => {
        told = given;
      }),
    );
    return told;
  }

  /** What is asked of it, and how far it came, is told: an end that takes long has a reason. */
  async #cancel(): Promise<void> {
    const startedMs = performance.now();
    const steps: string[] = [];
    const before = this.#state;
    if (before === "ended") return;
    // What is being started can be ended only when it is there.
    await this.#started.catch(() => undefined);
    if (before === "working") steps.push(await this.#interrupt());
    const isOver = (this.#state as State) === "answered";
    await this.#child?.stop(isOver ? { finishMs: RESULT_LIMIT_MS } : {});
    if (before === "starting") steps.push("it had not begun");
    if (before === "answered") steps.push("it had answered");
    if (!isOver || this.#exit?.signal !== undefined) steps.push(this.#howItEnded());
    const tookMs = Math.round(performance.now() - startedMs);
    this.#push(noticeMessage({ kind: "cancelled", text: `${steps.join("; ")}; ${tookMs} ms` }));
    this.#end();
  }

  async #interrupt(): Promise<string> {
    // It must be read while it ends, whoever reads.
    this.#child?.resume();
    let acked: ControlAnswer | undefined;
    const asked = this.#control.interrupt().then((answer) => {
      acked = answer;
    });
    await within(ACK_LIMIT_MS, Promise.race([asked, this.#answered]));
    // An answer that ended the wait is as good as an acknowledgement.
    if (acked === undefined && this.#state === "working") {
      return `it did not acknowledge the interrupt within ${ACK_LIMIT_MS} ms`;
    }
    if (acked?.ok === false) return `it refused the interrupt (${acked.error})`;
    await within(RESULT_LIMIT_MS, this.#answered);
    if ((this.#state as State) === "answered") return "it stopped when it was interrupted";
    return `it acknowledged the interrupt and did not stop within ${RESULT_LIMIT_MS} ms`;
  }

  #howItEnded(): string {
    const { code, signal } = this.#exit ?? {};
    if (this.#child === undefined) return "no process was started";
    if (signal === "SIGKILL") return "it ignored SIGTERM and was killed (SIGKILL)";
    if (signal === "SIGTERM" || code === 143) return "it was ended by SIGTERM";
    return `it ended with ${exitWords(this.#exit ?? {})}`;
  }

  #message(message: JsonObject): void {
    if (this.#control.take(message) || message["type"] === NOTICE_TYPE) return;
    this.#push(message as ClaudeMessage);
    if (message["type"] === "result" && this.#state !== "ended") this.#answer();
    const isIdle = message["subtype"] === "session_state_changed" && message["state"] === "idle";
    if (isIdle && this.#state === "working") this.#isAnswered();
  }

  #answer(): void {
    this.#state = "answered";
    this.#isAnswered();
  }

  #skip(reason: string): void {
    this.#skipped += 1;
    // Once: whatever prints garbage prints more of it.
    if (this.#skipped === 1) {
      this.#push(noticeMessage({ kind: "warning", text: `Claude Code printed ${reason}; it was skipped` }));
    }
  }

  #push(message: ClaudeMessage): void {
    this.#queue.push(message);
    if (this.#queue.length > MAX_WAITING && !this.#order.signal.aborted) this.#child?.pause();
    this.#wake();
  }

  *#drain(): Generator<ClaudeMessage> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      this.#child?.resume();
      yield* batch;
    }
  }

  #write(line: string): void {
    // A pipe that is closed says less than the exit behind it.
    void this.#child?.write(line).catch(() => undefined);
  }

  async #outputEnd(): Promise<void> {
    if (this.#child === undefined) return;
    await within(EXIT_FOLLOWS_MS, this.#child.exit);
    await this.#child.stop();
  }

  #ended(exit: ChildExit): void {
    this.#exit = exit;
    this.#lines.end();
    this.#control.close();
    this.#isAnswered();
  }

  #end(): void {
    this.#state = "ended";
    this.#control.close();
    this.#wake();
  }

  async #death(): Promise<ClaudeFailure> {
    const isRunning = this.#exit === undefined;
    await this.#child?.stop();
    if (isRunning && this.#skipped > 0) {
      return this.#failure("died", "Claude Code ended its turn with a result that could not be read");
    }
    if (isRunning) return this.#failure("died", "Claude Code ended its turn without a result");
    return this.#failure("died", `Claude Code ended without a result (${exitWords(this.#exit ?? {})})`);
  }

  #notReady(error: string): ClaudeFailure {
    const why = this.#exit === undefined ? error : exitWords(this.#exit);
    return this.#failure("start_failed", `Claude Code did not start (${why})`);
  }

  #failure(code: "start_failed" | "died", message: string): ClaudeFailure {
    return new ClaudeFailure(code, this.#stderr.after(message));
  }
}

function exitWords({ code, signal }: ChildExit): string {
  return signal === undefined ? `exit code ${code ?? "unknown"}` : signal;
}
