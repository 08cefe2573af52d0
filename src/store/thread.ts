// The store in a thread of its own, so that the database never blocks the event loop (DESIGN §7). When the thread
// dies, every pending call and every later one rejects with the reason.
import { Worker } from "node:worker_threads";
import { CodedError, messageOf } from "../base/coded-error.ts";
import {
  createStore,
  type StoreCall,
  type StoreReply,
  type ThreadReady,
  type ThreadStart,
  takeValue,
} from "./calls.ts";
import { Journal } from "./journal/journal.ts";
import { createJournaledStore } from "./journal/store.ts";
import { tryOpenMarks } from "./open-marks.ts";
import { SharedArea } from "./shared-area.ts";
import type { Store, StoreConfig, StoreOptions } from "./types.ts";

interface Waiting {
  resolve(reply: StoreReply): void;
  reject(error: Error): void;
}

/** `workerUrl` is the bundle of worker.ts. Rejects when the store cannot be opened. */
export async function openThreadStore(
  config: StoreConfig,
  workerUrl: URL,
  options: StoreOptions = {},
): Promise<Store> {
  const thread = new StoreThread(config, workerUrl, options);
  const { firstJournal } = takeValue(await thread.started) as ThreadReady;
  if (firstJournal === undefined) return createThreadStore(thread);
  const journal = new Journal({ databasePath: config.path, firstNumber: firstJournal });
  return createJournaledStore(thread, journal, tryOpenMarks(config, options.onRecovery));
}

/** Every call goes to the thread. */
function createThreadStore(thread: StoreThread): Store {
  const area = new SharedArea();
  const store = createStore(
    async (op, args) => takeValue(await thread.ask({ op, args })) as never,
    () => thread.close(),
  );
  const append: Store["append"] = async (order) => {
    const moved = area.moveIn(order);
    try {
      return await store.append(moved.order);
    } finally {
      moved.free();
    }
  };
  return { ...store, append };
}

class StoreThread {
  readonly started: Promise<StoreReply>;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #onRecovery: StoreOptions["onRecovery"];
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #death: CodedError | undefined;
  #closing: Promise<void> | undefined;

  constructor(config: StoreConfig, workerUrl: URL, options: StoreOptions) {
    this.#onRecovery = options.onRecovery;
    const start: ThreadStart = { store: config };
    this.#worker = new Worker(workerUrl, {
      workerData: start,
      name: "store",
      // Short-lived garbage only: a larger nursery would just hold it longer.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    this.started = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    this.#ended = new Promise((resolve) => {
      this.#worker.once("exit", (code) => {
        this.#die(`the store thread ended with code ${code}`);
        resolve();
      });
    });
    this.#worker.on("message", (reply: StoreReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#die(`the store thread failed: ${messageOf(error)}`, error));
  }

  /** Why no call is taken any more. */
  get refusal(): CodedError | undefined {
    if (this.#death !== undefined) return this.#death;
    return this.#closing === undefined ? undefined : new CodedError("internal", "the store is closed");
  }

  /** Resolves with the answer, a fault too; rejects when there will be none. Calls are answered in order. */
  ask(call: Omit<StoreCall, "id">): Promise<StoreReply> {
    const { refusal } = this;
    return refusal === undefined ? this.#post(call) : Promise.reject(refusal);
  }

  close(journal?: StoreCall["journal"]): Promise<void> {
    this.#closing ??= this.#close(journal);
    return this.#closing;
  }

  async #close(journal: StoreCall["journal"]): Promise<void> {
    const call: Omit<StoreCall, "id"> = { op: "close", args: [], ...(journal !== undefined && { journal }) };
    if (this.#death === undefined) takeValue(await this.#post(call));
    await this.#ended;
  }

  #post(call: Omit<StoreCall, "id">): Promise<StoreReply> {
    this.#calls += 1;
    const id = this.#calls;
    this.#worker.postMessage({ ...call, id });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #settle(reply: StoreReply): void {
    for (const recovery of reply.recoveries ?? []) this.#onRecovery?.(recovery);
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    waiting?.resolve(reply);
  }

  #die(message: string, cause?: unknown): void {
    this.#death ??= new CodedError("internal", message, { cause });
    for (const { reject } of this.#waiting.values()) reject(this.#death);
    this.#waiting.clear();
  }
}
