// The transport of a server that runs as a child process. Unlike the SDK's it ends everything the process started, gives it
// only the environment it was given, and survives what it prints.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Child, type ChildExit, type ChildOrder, startChild, waitAtMost } from "../../base/child.ts";
import { toMessage } from "../../base/coded-error.ts";
import { formatCrash, StderrTail } from "../../base/exit-message.ts";
import { isObject } from "../../base/json.ts";
import { LineSplitter } from "../../base/ndjson.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

/** Marks the processes of a server, so that none is left behind. */
export const SERVER_MARKER = "DEMIAN_MCP_ID";
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** To exit after its stdin is closed, and after SIGTERM. */
const FINISH_MS = 500;
const GRACE_MS = 500;
const MAX_STDERR_LINE = 400;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #order: ChildOrder;
  readonly #stderr = new StderrTail();
  readonly #lines: LineSplitter;
  #child: Child | undefined;
  #starting: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Why it ended, for the user. */
  fault: string | undefined;

  constructor(order: Omit<ChildOrder, "marker">) {
    const { [SERVER_MARKER]: _outer, ...env } = order.env;
    this.#order = { ...order, env, marker: SERVER_MARKER };
    this.#lines = new LineSplitter(MAX_MESSAGE_BYTES, {
      line: (line) => this.#read(line),
      oversize: () => this.#fail(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`),
    });
  }

  async start(): Promise<void> {
    const started = startChild(this.#order, {
      output: (chunk) => {
        if (!this.#isClosed) this.#lines.push(chunk);
      },
      errorLine: (line) => this.#stderr.add(sanitizeLine(line).slice(0, MAX_STDERR_LINE)),
      outputEnd: () => void this.#end(),
    });
    this.#starting = started.catch(() => undefined);
    this.#child = await started;
    void this.#child.exit.then((exit) => this.#end(exit));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || this.#child === undefined) throw new Error(this.fault ?? "it is not running");
    await this.#child.write(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#starting;
    await this.#child?.stop({ finishMs: FINISH_MS, graceMs: GRACE_MS });
    this.onclose?.();
  }

  #read(line: string): void {
    if (this.#isClosed || line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return; // Servers print text by mistake; the next line may be a message.
    }
    if (!isObject(message)) return;
    try {
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(new Error(toMessage(error), { cause: error }));
    }
  }

  #fail(fault: string): void {
    this.fault ??= fault;
    void this.close();
  }

  /** stdout has ended, or the process; the exit explains it. */
  async #end(exit?: ChildExit): Promise<void> {
    if (this.#isClosed) return;
    const exited = this.#child?.exit ?? Promise.resolve(undefined);
    const found = exit ?? (await waitAtMost(GRACE_MS, exited));
    if (this.#isClosed) return;
    this.#fail(
      found === undefined ? "it closed its output" : `it ended (${formatCrash(found, this.#stderr.lines)})`,
    );
  }
}
