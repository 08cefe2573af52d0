// Who gets a message of a shared app-server: every message carries a thread id, every thread belongs to one session.
// A sub-agent's thread is mostly unannounced, so a message of an unknown thread waits until somebody claims the
// thread or Codex says whose child it is. A request that nobody owns is refused: Codex would wait for ever.
import { within } from "../../../base/child.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { RpcId } from "../../../base/jsonrpc.ts";
import type { Log } from "../../../base/log.ts";

export type Incoming = {
  method: string;
  params: JsonObject;
  /** Bytes on the wire. */
  size: number;
} & ({ kind: "notification"; emittedAtMs?: number } | { kind: "request"; id: RpcId });

/** A session, as far as the process is concerned. */
export interface Tenant {
  /** A turn runs, its own or one of its sub-agents. */
  readonly isBusy: boolean;
  deliver(message: Incoming): void;
  /** Codex says that this thread is a child of one of ours. The tenant claims it. */
  adopt(thread: JsonObject): void;
}

export interface RouterParts {
  /** What Codex knows about a thread; undefined when nothing. */
  lookUp(threadId: string): Promise<JsonObject | undefined>;
  refuse(id: RpcId, why: string): void;
  log: Log;
}

interface Held {
  messages: Incoming[];
  timer: NodeJS.Timeout;
}

export const HOLD_MESSAGES = 1000;
export const HOLD_MS = 30_000;
/** Deeper families of sub-agents are not looked up; their parents announce them all the same. */
const MAX_DEPTH = 8;
const REMEMBERED = 1000;
/** A slow start of one session must not hold up the sub-agents of another. */
const OPENING_MS = 1000;

export class Router {
  readonly #parts: RouterParts;
  readonly #owners = new Map<string, Tenant>();
  readonly #held = new Map<string, Held>();
  /** Threads of sessions that have left: what still comes is for nobody. */
  readonly #retired = new Set<string>();
  #opening: Promise<unknown> = Promise.resolve();

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  get tenants(): ReadonlySet<Tenant> {
    return new Set(this.#owners.values());
  }

  ownerOf(threadId: string): Tenant | undefined {
    return this.#owners.get(threadId);
  }

  route(message: Incoming): void {
    const threadId = threadIdOf(message.params);
    if (threadId === undefined) this.#toEverybody(message);
    else {
      const owner = this.#owners.get(threadId) ?? this.#owners.get(parentOf(message.params) ?? "");
      if (owner !== undefined) owner.deliver(message);
      else if (this.#retired.has(threadId)) this.#drop(message, "its session has ended");
      else this.#hold(threadId, message);
    }
  }

  /** From now on this thread is the tenant's; what came for it before is delivered first. */
  claim(threadId: string, tenant: Tenant): void {
    this.#retired.delete(threadId);
    this.#owners.set(threadId, tenant);
    const held = this.#held.get(threadId);
    if (held === undefined) return;
    this.#held.delete(threadId);
    clearTimeout(held.timer);
    for (const message of held.messages) tenant.deliver(message);
  }

  /** A thread is being started: its first messages may come before we know its id, so nobody is asked meanwhile. */
  async open<T>(work: () => Promise<T>): Promise<T> {
    const opened = work();
    this.#opening = Promise.all([this.#opening, opened.catch(() => undefined)]);
    return opened;
  }

  retire(tenant: Tenant): void {
    for (const [threadId, owner] of this.#owners) {
      if (owner !== tenant) continue;
      this.#owners.delete(threadId);
      this.#retired.add(threadId);
    }
    for (const threadId of this.#retired) {
      if (this.#retired.size <= REMEMBERED) break;
      this.#retired.delete(threadId);
    }
  }

  /** The process has gone. */
  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    this.#owners.clear();
  }

  #toEverybody(message: Incoming): void {
    if (message.kind === "request") {
      this.#drop(message, "it names no thread");
      return;
    }
    for (const tenant of this.tenants) if (tenant.isBusy) tenant.deliver(message);
  }

  #hold(threadId: string, message: Incoming): void {
    const held = this.#held.get(threadId) ?? this.#beginHold(threadId);
    if (held.messages.length < HOLD_MESSAGES) held.messages.push(message);
    else this.#drop(message, "too much waits for the owner of its thread");
  }

  #beginHold(threadId: string): Held {
    const timer = setTimeout(() => this.#giveUp(threadId, "nobody claimed its thread in time"), HOLD_MS);
    timer.unref();
    const held: Held = { messages: [], timer };
    this.#held.set(threadId, held);
    void this.#findOwner(threadId);
    return held;
  }

  #giveUp(threadId: string, why: string): void {
    const held = this.#held.get(threadId);
    if (held === undefined) return;
    this.#held.delete(threadId);
    clearTimeout(held.timer);
    for (const message of held.messages) this.#drop(message, why);
  }

  /** An owner that is found claims the thread. Without an answer from Codex the messages go on waiting. */
  async #findOwner(threadId: string): Promise<void> {
    const opening = this.#opening;
    await within(OPENING_MS, opening);
    const family: JsonObject[] = [];
    let id = threadId;
    while (family.length < MAX_DEPTH && !this.#owners.has(threadId)) {
      const thread = await this.#parts.lookUp(id);
      if (thread === undefined) return;
      family.unshift(thread);
      const parent = thread["parentThreadId"];
      if (typeof parent !== "string") {
        // It may be one that is just being opened, however long that takes.
        await opening;
        this.#giveUp(threadId, "its thread belongs to no session");
        return;
      }
      const owner = this.#owners.get(parent);
      if (owner !== undefined) {
        for (const member of family) owner.adopt(member);
        return;
      }
      id = parent;
    }
  }

  #drop(message: Incoming, why: string): void {
    this.#parts.log.debug("codex.message_dropped", { method: message.method, why });
    if (message.kind !== "request") return;
    this.#parts.log.warn("codex.request_refused", { method: message.method, why });
    this.#parts.refuse(message.id, `refused: ${why}`);
  }
}

/** `thread/started` of a sub-agent names its parent. */
function parentOf({ thread }: { thread?: unknown }): string | undefined {
  const parent = isObject(thread) ? thread["parentThreadId"] : undefined;
  return typeof parent === "string" ? parent : undefined;
}

function threadIdOf(params: JsonObject): string | undefined {
  const { threadId, thread, conversationId } = params;
  // `conversationId` is how the two oldest approval requests call it.
  const id = threadId ?? (isObject(thread) ? thread["id"] : conversationId);
  return typeof id === "string" ? id : undefined;
}
