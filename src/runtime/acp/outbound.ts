// What a session tells its client, in order, one frame at a time. While the client does not read, words that belong
// together are put together, so what waits is never more than what there is to say in one turn.
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { EVENT, NOTICE } from "./announced.ts";

export type Outgoing =
  | { method: "session/update"; update: SessionUpdate }
  | { method: typeof EVENT | typeof NOTICE; params: Record<string, unknown> };

export type SendOutgoing = (outgoing: Outgoing) => Promise<void>;

export class Outbound {
  readonly #send: SendOutgoing;
  readonly #waiting: Outgoing[] = [];
  #pump: Promise<void> | undefined;

  constructor(send: SendOutgoing) {
    this.#send = send;
  }

  push(outgoing: Outgoing): void {
    const last = this.#waiting.at(-1);
    const merged = last === undefined ? undefined : merge(last, outgoing);
    if (merged === undefined) this.#waiting.push(outgoing);
    else this.#waiting[this.#waiting.length - 1] = merged;
    this.#pump ??= this.#run();
  }

  /** Resolves when everything said so far is written, or nobody is there to read it. */
  async drained(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump;
  }

  async #run(): Promise<void> {
    // Whoever tells several things at once gets them into one frame.
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#send(next);
      } catch {
        // The connection is gone, and with it the session: its turn is being ended by whoever noticed.
        this.#waiting.length = 0;
      }
    }
    this.#pump = undefined;
  }
}

function merge(last: Outgoing, next: Outgoing): Outgoing | undefined {
  if (last.method !== "session/update" || next.method !== "session/update") return undefined;
  const update = mergeUpdates(last.update, next.update);
  return update === undefined ? undefined : { method: "session/update", update };
}

function mergeUpdates(last: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  const isText =
    (last.sessionUpdate === "agent_message_chunk" && next.sessionUpdate === "agent_message_chunk") ||
    (last.sessionUpdate === "agent_thought_chunk" && next.sessionUpdate === "agent_thought_chunk");
  if (isText && last.messageId === next.messageId) {
    if (last.content.type !== "text" || next.content.type !== "text") return undefined;
    return { ...last, content: { type: "text", text: last.content.text + next.content.text } };
  }
  // Of one tool the later word replaces the earlier one, field by field: that is what the client would do.
  if (last.sessionUpdate === "tool_call_update" && next.sessionUpdate === "tool_call_update") {
    const isSameStep = last.toolCallId === next.toolCallId && last.status === next.status;
    return isSameStep ? { ...last, ...next } : undefined;
  }
  return undefined;
}
