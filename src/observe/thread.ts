// The thread that has observability.db and search.db open. When it fails, resting-thread.ts starts another.
import { CodedError } from "../base/coded-error.ts";
import type { MovedAside } from "../base/sqlite/database.ts";
import { WorkerThread } from "../base/worker-thread.ts";
import type { Op, Ops, WorkerCall, WorkerReply, WorkerStart } from "./worker-calls.ts";

export interface ThreadOptions {
  path: string;
  searchPath: string;
  /** The bundle of worker.ts. */
  workerUrl: URL;
  onAside(aside: MovedAside): void;
  /** The thread ended without being asked to. */
  onFailure(message: string): void;
}

export class ObserveThread {
  readonly #thread: WorkerThread<Omit<WorkerCall, "id">, WorkerReply>;
  #isClosing = false;

  constructor({ path, searchPath, workerUrl, onAside, onFailure }: ThreadOptions) {
    const workerData: WorkerStart = { path, searchPath };
    this.#thread = new WorkerThread({
      name: "observe",
      url: workerUrl,
      workerData,
      onReply: ({ asides = [] }) => asides.forEach(onAside),
      onEnd: ({ message }) => {
        if (!this.#isClosing) onFailure(message);
      },
    });
  }

  get hasEnded(): boolean {
    return this.#thread.failure !== undefined;
  }

  /** Calls are answered in order. */
  async call<K extends Op>(op: K, order: Ops[K]["order"]): Promise<Ops[K]["reply"]> {
    const { value, fault } = await this.#thread.call({ op, order });
    if (fault !== undefined) throw new CodedError("internal", fault);
    return value as Ops[K]["reply"];
  }

  /** Folds everything into one file. A thread that does not end in time is terminated. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => void this.#thread.terminate(), limitMs);
    try {
      await this.call("close", undefined);
    } catch {
      // The thread has ended or the file cannot be opened: what could be written was.
    }
    await this.#thread.ended;
    clearTimeout(timer);
  }
}
