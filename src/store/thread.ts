// The store in a thread of its own, so that the disk never blocks the event loop (DESIGN §7). When the thread
// dies, every pending call and every later one rejects with the reason.
import { Worker } from "node:worker_threads";
import { CodedError, messageOf } from "../base/coded-error.ts";
import { type Args, createStore, type Op, type Result, type StoreReply, type ThreadStart } from "./calls.ts";
import { SharedArea } from "./shared-area.ts";
import type { AppendOrder, AppendOutcome, Store, StoreConfig, StoreOptions } from "./types.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** `workerUrl` is the bundle of worker.ts. Rejects when the store cannot be opened. */
export async function openThreadStore(
  config: StoreConfig,
  workerUrl: URL,
  options: StoreOptions = {},
): Promise<Store> {
  const thread = new StoreThread(config, workerUrl, options);
  await thread.started;
  const store = createStore(
    (op, args) => thread.call(op, args),
    () => thread.close(),
  );
  return { ...store, append: (order) => thread.append(order) };
}

class StoreThread {
  readonly started: Promise<unknown>;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #onRecovery: StoreOptions["onRecovery"];
  readonly #area = new SharedArea();
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

  async append(order: AppendOrder): Promise<AppendOutcome> {
    const moved = this.#area.moveIn(order);
    try {
      return await this.call("append", [moved.order]);
    } finally {
      moved.free();
    }
  }

  call<K extends Op>(op: K, args: Args<K>): Promise<Result<K>> {
    if (this.#death !== undefined) return Promise.reject(this.#death);
    if (this.#closing !== undefined) return Promise.reject(new CodedError("internal", "the store is closed"));
    return this.#post(op, args);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#death === undefined) await this.#post("close", []);
    await this.#ended;
  }

  #post<K extends Op>(op: K, args: Args<K>): Promise<Result<K>> {
    this.#calls += 1;
    const id = this.#calls;
    this.#worker.postMessage({ id, op, args });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  #settle({ id, value, fault, recoveries }: StoreReply): void {
    for (const recovery of recoveries ?? []) this.#onRecovery?.(recovery);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (fault === undefined) waiting?.resolve(value);
    else waiting?.reject(new CodedError(fault.code, fault.message));
  }

  #die(message: string, cause?: unknown): void {
    this.#death ??= new CodedError("internal", message, { cause });
    for (const { reject } of this.#waiting.values()) reject(this.#death);
    this.#waiting.clear();
  }
}
