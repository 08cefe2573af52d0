// Shares one stream of changes between the list and the open session, because browsers limit connections. The rest of
// the port is unchanged.
import type { ChangeView, ViewPort } from "./port.ts";

/** A reader that lags this far behind gets a `reset`. */
const MAX_WAITING = 2_000;

export function shareChanges(port: ViewPort): ViewPort {
  const hub = new Hub(port);
  return {
    sessionsPage: (page) => port.sessionsPage(page),
    session: (session_id) => port.session(session_id),
    events: (session_id, options) => port.events(session_id, options),
    follow: (session_id, options) => port.follow(session_id, options),
    requests: (filter) => port.requests(filter),
    request: (session_id, request_id) => port.request(session_id, request_id),
    queue: (session_id) => port.queue(session_id),
    changes: (signal) => hub.read(signal),
  };
}

interface Reader {
  waiting: ChangeView[];
  failed?: { error: unknown };
  wake(): void;
}

class Hub {
  readonly #port: ViewPort;
  readonly #readers = new Set<Reader>();
  #stop: AbortController | undefined;
  /** The stream has started: new readers begin with a `reset` and miss nothing after it. */
  #isOpen = false;

  constructor(port: ViewPort) {
    this.#port = port;
  }

  async *read(signal: AbortSignal): AsyncGenerator<ChangeView, void> {
    const reader: Reader = { waiting: this.#isOpen ? [{ kind: "reset" }] : [], wake: () => undefined };
    const onAbort = (): void => reader.wake();
    signal.addEventListener("abort", onAbort);
    this.#readers.add(reader);
    if (this.#stop === undefined) void this.#run();
    try {
      while (!signal.aborted) {
        const change = reader.waiting.shift();
        if (change !== undefined) yield change;
        else if (reader.failed !== undefined) throw reader.failed.error;
        else
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#end();
    }
  }

  /** Never rejects; the readers get the error. */
  async #run(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    let error: unknown = Object.assign(new Error("the daemon ended the stream"), { code: "connection_lost" });
    try {
      for await (const change of this.#port.changes(stop.signal)) {
        if (this.#stop !== stop) return;
        this.#isOpen = true;
        for (const reader of this.#readers) deliver(reader, change);
      }
    } catch (cause) {
      error = cause;
    }
    if (this.#stop !== stop) return;
    this.#end();
    for (const reader of this.#readers) {
      reader.failed = { error };
      reader.wake();
    }
    this.#readers.clear();
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#isOpen = false;
  }
}

function deliver(reader: Reader, change: ChangeView): void {
  if (change.kind === "reset" || reader.waiting.length >= MAX_WAITING) reader.waiting = [{ kind: "reset" }];
  else reader.waiting.push(change);
  reader.wake();
}
