// Routes messages of an agent that serves many sessions: every message names its session. Messages for a session that
// is being opened wait until its id is known; requests without an owner are refused, so that the agent does not wait
// forever.

import type { JsonObject } from "../../base/json.ts";
import type { RpcId } from "../../base/jsonrpc.ts";
import type { Log } from "../../base/log.ts";
import { asString } from "../../base/values.ts";
import type { Frame } from "./translate.ts";

export type Message = Exclude<Frame, { kind: "answer" }>;

/** A session, as the process sees it. */
export interface AcpTenant {
  /** `size`: bytes on the wire. */
  deliver(frame: Frame, size: number): void;
}

export interface AcpRouterParts {
  refuse(id: RpcId, why: string): void;
  log: Log;
}

export const HOLD_MESSAGES = 1000;
/** Where messages without a session wait. */
const NO_SESSION = "";

export class AcpRouter {
  readonly #parts: AcpRouterParts;
  readonly #owners = new Map<string, AcpTenant>();
  readonly #held = new Map<string, Array<{ message: Message; size: number }>>();
  #opening = 0;
  #heldMessages = 0;
  #isReplaying = false;

  constructor(parts: AcpRouterParts) {
    this.#parts = parts;
  }

  /** Until `endReplay`, messages were handled before: those without an owner are no longer needed. */
  startReplay(): void {
    this.#isReplaying = true;
  }

  endReplay(): void {
    this.#isReplaying = false;
  }

  findOwner(sessionId: string): AcpTenant | undefined {
    return this.#owners.get(sessionId);
  }

  route(message: Message, size: number): void {
    const sessionId = readSessionId(message.params);
    if (sessionId === undefined) {
      this.#toEverybody(message, size);
      return;
    }
    const owner = this.#owners.get(sessionId);
    if (owner !== undefined) owner.deliver(message, size);
    else if (this.#opening > 0) this.#hold(sessionId, message, size);
    else this.#drop(message, "no session of the daemon has this id");
  }

  /** The session now belongs to the tenant; earlier messages are delivered first. */
  claim(sessionId: string, tenant: AcpTenant): void {
    this.#owners.set(sessionId, tenant);
    for (const id of [NO_SESSION, sessionId]) {
      const held = this.#held.get(id) ?? [];
      this.#held.delete(id);
      this.#heldMessages -= held.length;
      for (const { message, size } of held) tenant.deliver(message, size);
    }
  }

  retire(tenant: AcpTenant): void {
    for (const [sessionId, owner] of this.#owners) {
      if (owner === tenant) this.#owners.delete(sessionId);
    }
  }

  /** A session is being opened: its first messages may arrive before its id is known. */
  async open<T>(work: () => Promise<T>): Promise<T> {
    this.#opening += 1;
    try {
      return await work();
    } finally {
      this.#opening -= 1;
      if (this.#opening === 0) this.#dropHeld();
    }
  }

  close(): void {
    this.#held.clear();
    this.#heldMessages = 0;
    this.#owners.clear();
  }

  #toEverybody(message: Message, size: number): void {
    if (message.kind === "request") {
      this.#drop(message, "it names no session");
      return;
    }
    const tenants = new Set(this.#owners.values());
    // One session's messages are not for the others.
    if (message.method === "session/update" && tenants.size !== 1) {
      this.#drop(message, "it names no session");
      return;
    }
    if (tenants.size === 0 && !this.#isReplaying) this.#hold(NO_SESSION, message, size);
    for (const tenant of tenants) tenant.deliver(message, size);
  }

  #hold(sessionId: string, message: Message, size: number): void {
    if (this.#heldMessages >= HOLD_MESSAGES) {
      this.#drop(message, "too many messages wait for sessions that are being opened");
      return;
    }
    this.#heldMessages += 1;
    const held = this.#held.get(sessionId) ?? [];
    held.push({ message, size });
    this.#held.set(sessionId, held);
  }

  /** Messages without a session keep waiting for the first one. */
  #dropHeld(): void {
    for (const [sessionId, held] of this.#held) {
      if (sessionId === NO_SESSION) continue;
      this.#held.delete(sessionId);
      this.#heldMessages -= held.length;
      for (const { message } of held) this.#drop(message, "no session of the daemon has this id");
    }
  }

  #drop(message: Message, why: string): void {
    this.#parts.log.debug("acp.message_dropped", { method: message.method, why });
    // In a replay it was answered before.
    if (message.kind !== "request" || this.#isReplaying) return;
    this.#parts.log.warn("acp.request_refused", { method: message.method, why });
    this.#parts.refuse(message.id, `refused: ${why}`);
  }
}

function readSessionId(params: JsonObject): string | undefined {
  return asString(params["sessionId"]);
}
