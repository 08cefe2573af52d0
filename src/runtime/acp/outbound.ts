// Sends a session's messages in order, one at a time. While the client does not read, adjacent text and updates are merged,
// which bounds the queue by the content of one turn.
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { EVENT, NOTICE } from "./extensions.ts";

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

  /** Resolves when everything queued is written, or the connection is gone. */
  async drain(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump;
  }

  async #run(): Promise<void> {
    // Messages pushed in the same tick are merged.
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#send(next);
      } catch {
        // The connection is gone; the host ends the session.
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
  // Later fields replace earlier ones, as in the client.
  if (last.sessionUpdate === "tool_call_update" && next.sessionUpdate === "tool_call_update") {
    const isSameStep = last.toolCallId === next.toolCallId && last.status === next.status;
    return isSameStep ? { ...last, ...next } : undefined;
  }
  return undefined;
}
