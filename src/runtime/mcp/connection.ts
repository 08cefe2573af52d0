// A server of a session over its whole life: connects in the background, stays connected, and connects again with the next
// use if it was lost, with growing pauses. Never rejects except where it is used.

import { toMessage } from "../../base/coded-error.ts";
import { type CallLimits, type McpClient, openClient } from "./client.ts";
import { buildAbort } from "./deadline.ts";
import { expandConfig } from "./expand.ts";
import type { McpOffer, McpOrder, McpState } from "./types.ts";

export interface ConnectionPlace {
  /** The workspace. */
  cwd: string;
  /** The user's environment, for `${NAME}` in settings. */
  userEnv: Readonly<Record<string, string | undefined>>;
  /** The environment of its process: that of commands. */
  env: Readonly<Record<string, string>>;
  now?: () => number;
}

const CONNECT_MS = 10_000;
const CALL_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export class McpConnection {
  readonly order: McpOrder;
  readonly #place: ConnectionPlace;
  readonly #onChange: () => void;
  readonly #now: () => number;
  readonly #ended = new AbortController();
  #state: McpState;
  #client: McpClient | undefined;
  #connecting: Promise<void> | undefined;
  /** As listed last. */
  #offer: McpOffer | undefined;
  #fault: string | undefined;
  #failures = 0;
  #retryAtMs = 0;
  /** The server said that a list changed since it was read. */
  #isStale = false;

  constructor(order: McpOrder, place: ConnectionPlace, onChange: () => void) {
    this.order = order;
    this.#place = place;
    this.#onChange = onChange;
    this.#now = place.now ?? Date.now;
    this.#state = order.config.enabled === false ? "off" : "idle";
  }

  get state(): McpState {
    return this.#state;
  }

  get offer(): McpOffer | undefined {
    return this.#offer;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  get version(): string | undefined {
    return this.#client?.version;
  }

  /** Resolves when it is ready or has failed. `isForced`: without waiting for the pause after a failure. */
  connect(isForced = false): Promise<void> {
    if (this.#state === "off" || this.#state === "ready" || this.#ended.signal.aborted)
      return Promise.resolve();
    if (this.#state === "failed" && !isForced && this.#now() < this.#retryAtMs) return Promise.resolve();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Reads its lists again if they changed. Resolves when done or failed. */
  async relist(): Promise<void> {
    if (this.#client === undefined || !this.#isStale) return;
    this.#isStale = false;
    const deadline = buildAbort(this.#ended.signal, this.#connectMs);
    try {
      this.#offer = await this.#client.list({ signal: deadline.signal, timeoutMs: this.#connectMs });
    } catch (error) {
      this.#isStale = true;
      this.#fault = `its lists could not be read again: ${toMessage(error)}`;
    } finally {
      deadline.clear();
    }
  }

  /** Calls the server, connecting again if it was lost. Rejects with the reason. */
  async use<T>(
    limits: Omit<CallLimits, "timeoutMs">,
    call: (client: McpClient, limits: CallLimits) => Promise<T>,
  ): Promise<T> {
    await this.connect();
    limits.signal.throwIfAborted();
    if (this.#client === undefined) throw new Error(this.#explainAbsence());
    return call(this.#client, { ...limits, timeoutMs: this.order.config.timeoutMs ?? CALL_MS });
  }

  /** Resolves when its processes are gone. */
  async close(): Promise<void> {
    this.#ended.abort(new Error("the session has ended"));
    await this.#connecting;
    const client = this.#client;
    this.#client = undefined;
    this.#state = "off";
    await client?.close();
  }

  get #connectMs(): number {
    return this.order.config.connectTimeoutMs ?? CONNECT_MS;
  }

  async #connect(): Promise<void> {
    this.#set("connecting");
    const timeoutMs = this.#connectMs;
    const deadline = buildAbort(
      this.#ended.signal,
      timeoutMs,
      `it did not answer within ${timeoutMs / 1000} s`,
    );
    const limits = { signal: deadline.signal, timeoutMs: timeoutMs + 1000 };
    let client: McpClient | undefined;
    try {
      const { cwd, env, userEnv } = this.#place;
      const { config: given, origin } = this.order;
      // What a client sends is meant as it is.
      const config = origin === "client" ? given : expandConfig(given, userEnv);
      const handlers = {
        onChanged: () => this.#markStale(),
        onGone: (fault: string) => this.#lose(fault),
      };
      client = await openClient({ config, cwd, env, ...handlers }, limits);
      this.#client = client;
      this.#offer = await client.list(limits);
      this.#failures = 0;
      this.#fault = undefined;
      this.#isStale = false;
      this.#set("ready");
    } catch (error) {
      this.#client = undefined;
      this.#fail(deadline.signal.aborted ? toMessage(deadline.signal.reason) : toMessage(error));
      await client?.close();
    } finally {
      deadline.clear();
    }
  }

  #markStale(): void {
    if (this.#isStale || this.#state !== "ready") return;
    this.#isStale = true;
    this.#onChange();
  }

  #lose(fault: string): void {
    if (this.#state !== "ready") return;
    this.#client = undefined;
    // What it offers stays, so that the model's tools stay the same; the next call connects again, at once.
    this.#fault = fault;
    this.#retryAtMs = 0;
    this.#set("failed");
  }

  #fail(fault: string): void {
    this.#fault = fault;
    this.#retryAtMs = this.#now() + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    this.#set("failed");
  }

  #set(state: McpState): void {
    if (this.#ended.signal.aborted) return;
    this.#state = state;
    this.#onChange();
  }

  #explainAbsence(): string {
    const { name } = this.order;
    if (this.#state === "off") return `the MCP server ${name} is turned off`;
    const waitS = Math.ceil((this.#retryAtMs - this.#now()) / 1000);
    const next = waitS > 0 ? `; the next attempt is possible in ${waitS} s` : "";
    return `the MCP server ${name} is not available: ${this.#fault ?? "it is not connected"}${next}`;
  }
}
