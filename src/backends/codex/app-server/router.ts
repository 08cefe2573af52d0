// Routes messages of a shared app-server: every message has a thread id, every thread belongs to one session. A
// sub-agent's thread is mostly unannounced, so a message of an unknown thread waits until a session claims the thread
// or Codex names its parent. Requests without an owner are refused, because Codex would wait forever.
import { waitAtMost } from "../../../base/child.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { RpcId } from "../../../base/jsonrpc.ts";
import type { Log } from "../../../base/log.ts";

export type Incoming = {
  method: string;
  params: JsonObject;
  /** Bytes on the wire. */
  size: number;
} & ({ kind: "notification"; emittedAtMs?: number } | { kind: "request"; id: RpcId });

/** A session, as the process sees it. */
export interface ThreadTenant {
  /** A turn is running, its own or a sub-agent's. */
  readonly isBusy: boolean;
  deliver(message: Incoming): void;
  /** Codex reports that this thread is a child of one of ours. The tenant claims it. */
  adopt(thread: JsonObject): void;
}

export interface ThreadRouterParts {
  /** What Codex knows about a thread, if anything. */
  lookUp(threadId: string): Promise<JsonObject | undefined>;
  /** In a replay: whether the earlier daemon looked it up at this point. */
  wasLookedUp?(threadId: string): boolean;
  refuse(id: RpcId, why: string): void;
  log: Log;
}

interface Held {
  messages: Incoming[];
  timer: NodeJS.Timeout;
  isLookedUp: boolean;
}

export const HOLD_MESSAGES = 1000;
export const HOLD_MS = 30_000;
/** Deeper families of sub-agents are not looked up; their parents announce them anyway. */
const MAX_DEPTH = 8;
const REMEMBERED = 1000;
/** A slow start of one session must not delay the sub-agents of another. */
const OPENING_MS = 1000;

export class ThreadRouter {
  readonly #parts: ThreadRouterParts;
  readonly #owners = new Map<string, ThreadTenant>();
  readonly #held = new Map<string, Held>();
  /** Threads of sessions that have left: their messages are dropped. */
  readonly #retired = new Set<string>();
  #opening: Promise<unknown> = Promise.resolve();
  #isReplaying = false;

  constructor(parts: ThreadRouterParts) {
    this.#parts = parts;
  }

  get tenants(): ReadonlySet<ThreadTenant> {
    return new Set(this.#owners.values());
  }

  /** Messages wait for their sessions. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Until `endReplay`, messages were handled before: their threads are looked up only if they were then. */
  startReplay(): void {
    this.#isReplaying = true;
  }

  endReplay(): void {
    this.#isReplaying = false;
    for (const [threadId, { isLookedUp }] of this.#held) {
      if (!isLookedUp) void this.#findOwner(threadId);
    }
  }

  findOwner(threadId: string): ThreadTenant | undefined {
    return this.#owners.get(threadId);
  }

  route(message: Incoming): void {
    const threadId = readThreadId(message.params);
    if (threadId === undefined) this.#toEverybody(message);
    else {
      const owner = this.#owners.get(threadId) ?? this.#owners.get(readParent(message.params) ?? "");
      if (owner !== undefined) owner.deliver(message);
      else if (this.#retired.has(threadId)) this.#drop(message, "its session has ended");
      else this.#hold(threadId, message);
    }
  }

  /** The thread now belongs to the tenant; earlier messages are delivered first. */
  claim(threadId: string, tenant: ThreadTenant): void {
    this.#retired.delete(threadId);
    this.#owners.set(threadId, tenant);
    const held = this.#held.get(threadId);
    if (held === undefined) return;
    this.#held.delete(threadId);
    clearTimeout(held.timer);
    for (const message of held.messages) tenant.deliver(message);
  }

  /** In a replay, the snapshot of a session includes the messages of its threads so far. */
  drop(threadId: string): void {
    clearTimeout(this.#held.get(threadId)?.timer);
    this.#held.delete(threadId);
  }

  /** A thread is being started: its first messages may arrive before its id is known, so they are kept. */
  async open<T>(work: () => Promise<T>): Promise<T> {
    const opened = work();
    this.#opening = Promise.all([this.#opening, opened.catch(() => undefined)]);
    return opened;
  }

  retire(tenant: ThreadTenant): void {
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

  /** The process has exited. */
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
    else this.#drop(message, "too many messages wait for the owner of its thread");
  }

  #beginHold(threadId: string): Held {
    const timer = setTimeout(() => this.#giveUp(threadId, "no session claimed its thread in time"), HOLD_MS);
    timer.unref();
    const isLookedUp = !this.#isReplaying || this.#parts.wasLookedUp?.(threadId) === true;
    const held: Held = { messages: [], timer, isLookedUp };
    this.#held.set(threadId, held);
    if (isLookedUp) void this.#findOwner(threadId);
    return held;
  }

  #giveUp(threadId: string, why: string): void {
    const held = this.#held.get(threadId);
    if (held === undefined) return;
    this.#held.delete(threadId);
    clearTimeout(held.timer);
    for (const message of held.messages) this.#drop(message, why);
  }

  /** An owner that is found claims the thread. Without an answer from Codex the messages keep waiting. */
  async #findOwner(threadId: string): Promise<void> {
    const opening = this.#opening;
    await waitAtMost(OPENING_MS, opening);
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
    // In a replay it was answered before.
    if (message.kind !== "request" || this.#isReplaying) return;
    this.#parts.log.warn("codex.request_refused", { method: message.method, why });
    this.#parts.refuse(message.id, `refused: ${why}`);
  }
}

/** `thread/started` of a sub-agent names its parent. */
function readParent({ thread }: { thread?: unknown }): string | undefined {
  const parent = isObject(thread) ? thread["parentThreadId"] : undefined;
  return typeof parent === "string" ? parent : undefined;
}

function readThreadId(params: JsonObject): string | undefined {
  const { threadId, thread, conversationId } = params;
  // `conversationId` is its name in the two oldest approval requests.
  const id = threadId ?? (isObject(thread) ? thread["id"] : conversationId);
  return typeof id === "string" ? id : undefined;
}
