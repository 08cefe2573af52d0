// Daemons that die and the ones that follow them, as far as a backend sees them: starts sessions whose processes have
// run directories, detaches from them as a killed daemon would, and adopts them with another backend.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { RunsHost } from "../../src/backends/runs-host.ts";
import { SinkGate } from "../../src/backends/sink-gate.ts";
import type { AdoptOrder, Backend, RecordedName, Run, StartOrder } from "../../src/backends/types.ts";
import { Child } from "../../src/base/child.ts";
import { silentLog } from "../../src/base/log.ts";
import { type FoundRun, findRuns } from "../../src/base/runs/adopt.ts";
import type { RunMark } from "../../src/base/runs/mark.ts";
import type { RecordedCall } from "../../src/base/runs/record.ts";
import { RunFiles } from "../../src/base/runs/run-files.ts";
import type { Answer } from "../../src/protocol/requests.ts";
import { user } from "./conformance.ts";
import { Recorder } from "./recorder.ts";
import { tempDir } from "./temp-dir.ts";

/** One session through the lives of several daemons. */
export class KeptSession {
  readonly order: StartOrder;
  run: Run;
  /** What clients got, of all daemons. */
  readonly sink: Recorder;
  /** What the last daemon repeated. */
  past = new Recorder();
  /** As the store has it. */
  mark: RunMark | undefined;
  /** Calls that the last adoption had to repeat after it was live. */
  repeated: readonly RecordedCall[] = [];

  constructor({ order, run, sink }: { order: StartOrder; run: Run; sink: Recorder }) {
    this.order = order;
    this.run = run;
    this.sink = sink;
  }

  /** As the sessions layer does it. */
  async send(text: string): Promise<void> {
    await this.#record("send", [user(text)], () => this.run.send(user(text)));
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    return this.#record(
      "answer",
      [native_id, answer],
      async () => (await this.run.answer?.(native_id, answer)) === true,
    );
  }

  interrupt(): Promise<void> {
    return this.#record("interrupt", [], () => this.run.interrupt());
  }

  #record<T>(name: RecordedName, args: unknown[], make: () => T): T {
    const { keeper } = this.run;
    return keeper === undefined ? make() : keeper.record(name, args, make);
  }

  checkpoint(): void {
    this.run.keeper?.checkpoint({ has_init: true, last_seq: 0 });
  }

  /** Everything reported so far counts as stored. */
  store(): void {
    this.mark = this.run.keeper?.mark;
  }
}

export interface Lives {
  runs: RunsHost;
  /** A session of the first daemon. */
  open(backend: Backend, options: Record<string, unknown>, over?: Partial<StartOrder>): Promise<KeptSession>;
  /** The daemon dies: nothing is read or written by it from now on. */
  die(): void;
  find(): Promise<FoundRun>;
  /** The next daemon. */
  adopt(backend: Backend, sessions: readonly KeptSession[], found?: FoundRun): Promise<void>;
}

export function newLives(): Lives {
  const root = join(tempDir("runs"), "runs");
  const runs = { root, version: "1" };
  const started = vi.spyOn(RunFiles.prototype, "start");
  let sinks: SinkGate[] = [];
  const connect = (sink: Recorder) => {
    const gate = new SinkGate(sink);
    sinks.push(gate);
    return gate;
  };
  const dead = new WeakSet<RunFiles>();
  stopTheDead(dead);
  const die = () => {
    for (const files of started.mock.contexts as RunFiles[]) {
      files.detach();
      files.write = () => NEVER;
      dead.add(files);
    }
    started.mockClear();
    // Whatever it still learns, no client gets it.
    for (const gate of sinks) gate.open(new Recorder());
    sinks = [];
  };
  onTestFinished(async () => {
    die();
    vi.restoreAllMocks();
    for (const { description } of (await findRuns(root)).found) process.kill(description.pid, "SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });
  const find = async () => {
    const { found, left } = await findRuns(root);
    const [run] = found;
    if (run === undefined)
      throw new Error(`nothing to adopt: ${left.map(({ reason }) => reason).join(", ")}`);
    return run;
  };
  return {
    runs,
    find,
    async open(backend, options, over = {}) {
      const order: StartOrder = {
        session_id: randomUUID(),
        resume: false,
        began_here: true,
        options: backend.checkOptions(options),
        generation: "g1",
        env: {},
        log: silentLog,
        ...over,
      };
      const sink = new Recorder();
      const run = await backend.start(order, connect(sink));
      const session = new KeptSession({ order, run, sink });
      session.checkpoint();
      session.store();
      return session;
    },
    die,
    async adopt(backend, sessions, found) {
      const run = found ?? (await find());
      await backend.adopt?.(
        run,
        sessions.map((session) => toOrder(session, { run, backend: backend.name, connect })),
      );
    },
  };
}

const NEVER = new Promise<never>(() => undefined);

/** The objects of a dead daemon are still here, with their clocks: they must not end its processes. */
function stopTheDead(dead: WeakSet<RunFiles>): void {
  const { stop } = Child.prototype;
  vi.spyOn(Child.prototype, "stop").mockImplementation(function (this: Child, options) {
    return this.files !== undefined && dead.has(this.files) ? NEVER : stop.call(this, options);
  });
}

interface Adoption {
  run: FoundRun;
  backend: string;
  connect(sink: Recorder): SinkGate;
}

function toOrder(session: KeptSession, { run: found, backend, connect }: Adoption): AdoptOrder {
  const snapshot = found.snapshots.find(({ session_id }) => session_id === session.order.session_id);
  if (snapshot === undefined) throw new Error(`no snapshot of ${session.order.session_id}`);
  session.past = new Recorder();
  return {
    ...session.order,
    resume: true,
    log: silentLog,
    backend,
    snapshot,
    stored_out: session.mark?.out ?? snapshot.out,
    stored_err: session.mark?.err ?? 0,
    stored_n: session.mark?.n ?? snapshot.n,
    past: session.past,
    called: () => undefined,
    live: (run, calls) => {
      session.run = run;
      session.repeated = calls;
      return connect(session.sink);
    },
  };
}
