// Calls of the daemon's tools by one agent: each gets exactly one result, unless the agent withdraws it or ends. A call that
// was interrupted by the end of the daemon is repeated by the next one, under the same key, so that it does its work once.
import type { ToolCall, ToolOutcome } from "../../backends/types.ts";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";

export interface CallAbout {
  /** The same when it is repeated. */
  key: string;
  /** The agent no longer waits. */
  signal: AbortSignal;
}

/** Of an adopted agent. */
export interface OpenCalls {
  /** Without a result. */
  readonly calls: Iterable<ToolCall>;
  /** These get the result of the earlier daemon. */
  readonly returned: ReadonlySet<string>;
}

export interface ToolCallsParts {
  /** Never rejects. */
  run(call: ToolCall, about: CallAbout): Promise<ToolOutcome>;
  giveBack(native_id: string, outcome: ToolOutcome): Promise<void>;
  log: Log;
}

const MAX_OPEN = 32;

export class ToolCalls {
  readonly #parts: ToolCallsParts;
  readonly #open = new Map<string, AbortController>();
  #ignored: ReadonlySet<string> = new Set();
  #generation = "";

  constructor(parts: ToolCallsParts) {
    this.#parts = parts;
  }

  /** Another run of the agent. */
  open(generation: string): void {
    this.close();
    this.#generation = generation;
    this.#ignored = new Set();
  }

  /** The agent of an earlier daemon. */
  continue({ calls, returned }: OpenCalls): void {
    this.#ignored = returned;
    for (const call of calls) this.start(call);
  }

  start(call: ToolCall): void {
    const { native_id } = call;
    if (this.#open.has(native_id) || this.#ignored.has(native_id)) return;
    if (this.#open.size >= MAX_OPEN) {
      const text = `more than ${MAX_OPEN} calls at once; wait for some of them`;
      void this.#giveBack(native_id, { text, isError: true });
      return;
    }
    const controller = new AbortController();
    this.#open.set(native_id, controller);
    void this.#run(call, controller);
  }

  /** The agent no longer waits for it. False: it is none of these. */
  drop(native_id: string): boolean {
    this.#open.get(native_id)?.abort();
    return this.#open.delete(native_id);
  }

  /** The agent has ended, or is left to another daemon. */
  close(): void {
    for (const native_id of [...this.#open.keys()]) this.drop(native_id);
  }

  async #run(call: ToolCall, { signal }: AbortController): Promise<void> {
    const { native_id } = call;
    const outcome = await this.#parts.run(call, { key: `${this.#generation} ${native_id}`, signal });
    if (signal.aborted) return;
    this.#open.delete(native_id);
    await this.#giveBack(native_id, outcome);
  }

  async #giveBack(native_id: string, outcome: ToolOutcome): Promise<void> {
    try {
      await this.#parts.giveBack(native_id, outcome);
    } catch (error) {
      // The end of the agent follows, and is reported.
      this.#parts.log.debug("session.tool_lost", { message: toMessage(error) });
    }
  }
}

/** Where there are no tools. */
export async function refuseTool(): Promise<ToolOutcome> {
  return { text: "this daemon has no tools", isError: true };
}
