// Runs the store in a thread of its own, so that the database never blocks the event loop.
import type { Worker } from "node:worker_threads";
import { CodedError } from "../base/coded-error.ts";
import { WorkerThread } from "../base/worker-thread.ts";
import { type StoreCall, type StoreReply, type ThreadReady, type ThreadStart, takeValue } from "./calls.ts";
import { Journal } from "./journal/journal.ts";
import { createJournaledStore } from "./journal/store.ts";
import { tryOpenMarks } from "./open-marks.ts";
import type { Store, StoreConfig, StoreOptions } from "./types.ts";

type Order = Omit<StoreCall, "id">;

/** `workerUrl` is the bundle of worker.ts. Rejects when the store cannot be opened. */
export function openThreadStore(
  config: StoreConfig,
  workerUrl: URL,
  options: StoreOptions = {},
): Promise<Store> {
  return connect(new StoreThread(config, workerUrl, options), config, options);
}

/** A store whose thread is loading its code; it has touched no file yet. */
export interface PreparedStore {
  /** Rejects when the store cannot be opened. */
  open(): Promise<Store>;
  /** Ends the thread of a store that is not opened. */
  cancel(): Promise<void>;
}

/** Starts the thread, which takes longer than opening the files, unless `early` is one that was started for this. */
export function prepareThreadStore(
  config: StoreConfig,
  workerUrl: URL,
  options: StoreOptions = {},
  early?: Worker,
): PreparedStore {
  const thread = new StoreThread(config, workerUrl, options, { isHeld: true, early });
  return { open: () => connect(thread, config, options), cancel: () => thread.terminate() };
}

async function connect(thread: StoreThread, config: StoreConfig, options: StoreOptions): Promise<Store> {
  const { firstJournal } = takeValue(await thread.start()) as ThreadReady;
  const journal = new Journal({ databasePath: config.path, firstNumber: firstJournal });
  const marks = tryOpenMarks(config.marks, options.onRecovery);
  const { onFolded } = options;
  return createJournaledStore(thread, journal, {
    marks,
    isExported: config.jsonl !== undefined,
    onFolded,
  });
}

interface ThreadHold {
  isHeld?: boolean;
  early?: Worker | undefined;
}

class StoreThread {
  /** Resolves when the files are open. */
  readonly start: () => Promise<StoreReply>;
  readonly #thread: WorkerThread<Order, StoreReply>;
  #closing: Promise<void> | undefined;

  constructor(
    config: StoreConfig,
    url: URL,
    { onRecovery }: StoreOptions,
    { isHeld, early }: ThreadHold = {},
  ) {
    const workerData: ThreadStart = isHeld === true ? {} : { store: config };
    const onReply = ({ recoveries = [] }: StoreReply) => {
      for (const recovery of recoveries) onRecovery?.(recovery);
    };
    this.#thread = new WorkerThread({ name: "store", url, workerData, onReply, worker: early });
    const started = isHeld === true ? undefined : this.#thread.awaitReply(0);
    this.start = () => started ?? this.ask({ op: "open", args: [config] });
  }

  terminate(): Promise<void> {
    return this.#thread.terminate();
  }

  /** Why no call is accepted; undefined while they are. */
  get refusal(): CodedError | undefined {
    if (this.#thread.failure !== undefined) return this.#thread.failure;
    return this.#closing === undefined ? undefined : new CodedError("internal", "the store is closed");
  }

  /** Resolves with the reply, faults included; rejects when there will be none. */
  ask(call: Order): Promise<StoreReply> {
    const { refusal } = this;
    if (refusal !== undefined) return Promise.reject(refusal);
    return this.#thread.call(call, { isLimited: call.op !== "fold" });
  }

  close(journal?: StoreCall["journal"]): Promise<void> {
    this.#closing ??= this.#close(journal);
    return this.#closing;
  }

  async #close(journal: StoreCall["journal"]): Promise<void> {
    const call: Order = { op: "close", args: [], ...(journal !== undefined && { journal }) };
    if (this.#thread.failure === undefined) takeValue(await this.#thread.call(call, { isLimited: false }));
    await this.#thread.ended;
  }
}
