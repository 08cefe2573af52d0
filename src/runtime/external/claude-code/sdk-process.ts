// The process behind the Agent SDK, started by us: so that it, and what its commands left behind, can be ended for
// certain. The SDK's own way to end it leaves a running command alone (0.3.325 with 2.1.197).
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { type Child, type StopOptions, startChild, within } from "../../../base/child.ts";
import { messageOf } from "../../../base/coded-error.ts";
import type { SdkProcess, SdkSpawnOrder } from "./sdk-types.ts";
import { StderrTail } from "./stderr-tail.ts";

/** Marks what claude starts: its commands leave its process group. */
const MARKER = "DEMIAN_CLAUDE_ID";
/** After the end of the conversation, to write down what it remembers. */
const FINISH_MS = 5000;
/** A closed pipe and the exit that explains it may come in either order. */
const EXIT_FOLLOWS_MS = 500;

export class SdkChild {
  /** Why it could not be started. */
  fault: unknown;
  #child: Promise<Child> | undefined;
  readonly stderr = new StderrTail();

  /** For `spawnClaudeCodeProcess`. */
  start(order: SdkSpawnOrder): SdkProcess {
    const events = new EventEmitter();
    // What nobody listens to yet must not end demian.
    events.on("error", () => undefined);
    const stdout = new PassThrough();
    const child = this.#start(order, stdout);
    this.#child = child;
    const state: { killed: boolean; exitCode: number | null; signalCode: NodeJS.Signals | null } = {
      killed: false,
      exitCode: null,
      signalCode: null,
    };
    child.then(
      async (started) => {
        const exit = await started.exit;
        state.exitCode = exit.code ?? null;
        state.signalCode = (exit.signal as NodeJS.Signals | undefined) ?? null;
        events.emit("exit", state.exitCode, state.signalCode);
      },
      (error: unknown) => {
        this.fault = error;
        stdout.end();
        events.emit("error", error instanceof Error ? error : new Error(messageOf(error)));
      },
    );
    return {
      stdin: stdinOf(child),
      stdout,
      get killed() {
        return state.killed;
      },
      get exitCode() {
        return state.exitCode;
      },
      get signalCode() {
        return state.signalCode;
      },
      kill: () => {
        state.killed = true;
        // Whatever the signal: it is to end, with all that it started.
        void this.stop();
        return true;
      },
      on: events.on.bind(events),
      once: events.once.bind(events),
      off: events.off.bind(events),
    };
  }

  /** Resolves when it is gone with everything that it started. Nothing was started: at once. */
  async stop(options: StopOptions = {}): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    await child?.stop(options);
  }

  #start({ command, args, cwd, env }: SdkSpawnOrder, stdout: PassThrough): Promise<Child> {
    const { [MARKER]: _outer, ...rest } = env;
    return startChild(
      { command, args, env: rest, marker: MARKER, ...(cwd === undefined ? {} : { cwd }) },
      {
        output: (chunk) => stdout.write(chunk),
        errorLine: (line) => this.stderr.take(line),
        outputEnd: () => {
          stdout.end();
          void this.#outputEnd();
        },
      },
    );
  }

  /** Nothing more will come: the SDK would wait for the exit of a process that stays. */
  async #outputEnd(): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    if (child === undefined) return;
    await within(EXIT_FOLLOWS_MS, child.exit);
    await child.stop();
  }
}

/** The SDK writes whole lines, and ends it when the conversation is over. */
function stdinOf(child: Promise<Child>): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      const line = String(chunk).replace(/\n$/, "");
      // A pipe that is closed says less than the exit behind it.
      child
        .then((started) => started.write(line))
        .then(
          () => done(),
          () => done(),
        );
    },
    final: (done) => {
      done();
      void child.then(
        (started) => started.stop({ finishMs: FINISH_MS }),
        () => undefined,
      );
    },
  });
}
