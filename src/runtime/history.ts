// The conversation of a session, without system messages. It is always whole: every tool call in it has its answer,
// also when a turn was cut short.
import { randomUUID } from "node:crypto";
import {
  type AssistantMessage,
  type Message,
  type ToolCall,
  textOfUser,
  type UserMessage,
} from "./messages.ts";

export interface HistoryWatcher {
  onMessage?(message: Message): void;
  onHistory?(history: readonly Message[]): void;
}

/** Some providers count their calls anew in each answer, and an id becomes part of a file's name. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

const INTERRUPTED = "This call was interrupted before it gave a result.";

export class History {
  readonly #watcher: HistoryWatcher;
  readonly #callIds: Set<string>;
  #request = "";
  #messages: Message[] = [];
  #chars = 0;

  /** `callIds`: those that are taken already, shared by histories whose calls are told together. */
  constructor(
    watcher: HistoryWatcher,
    messages: readonly Message[] = [],
    callIds: Set<string> = new Set<string>(),
  ) {
    this.#callIds = callIds;
    this.#watcher = watcher;
    this.#messages = answered(messages.filter(({ role }) => role !== "system"));
    for (const message of this.#messages) this.#remember(message);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** About what it takes in memory, images as well. */
  get chars(): number {
    return this.#chars;
  }

  /** What the user asked for last, as hooks left it. */
  get request(): string {
    return this.#request;
  }

  /** For other histories. */
  get callIds(): Set<string> {
    return this.#callIds;
  }

  /** A user's message: a turn begins. */
  begin(message: UserMessage): void {
    this.#request = textOfUser(message);
    this.push(message);
  }

  push(message: Message): void {
    this.#remember(message);
    this.#messages.push(message);
    this.#watcher.onMessage?.(message);
  }

  replace(messages: readonly Message[]): void {
    this.#messages = [...messages];
    this.#chars = this.#messages.reduce((sum, message) => sum + charsOf(message), 0);
    this.#watcher.onHistory?.(this.#messages);
  }

  /** The same answer, its calls with ids that occur once in this conversation. */
  named(message: AssistantMessage): AssistantMessage {
    const { toolCalls } = message;
    if (toolCalls === undefined || toolCalls.length === 0) return message;
    const seen = new Set<string>();
    const named = toolCalls.map((call): ToolCall => {
      const isFree = SAFE_ID.test(call.id) && !this.#callIds.has(call.id) && !seen.has(call.id);
      const id = isFree ? call.id : `call_${randomUUID().slice(0, 13)}`;
      seen.add(id);
      return { ...call, id };
    });
    return { ...message, toolCalls: named };
  }

  #remember(message: Message): void {
    this.#chars += charsOf(message);
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) this.#callIds.add(id);
  }
}

function charsOf({ content, ...rest }: Message): number {
  const text = typeof content === "string" ? content.length : JSON.stringify(content ?? "").length;
  return text + ("toolCalls" in rest ? JSON.stringify(rest.toolCalls).length : 0);
}

/** What a process that died left behind: calls without answers get one, answers without calls are left out. */
export function answered(messages: readonly Message[]): Message[] {
  const whole: Message[] = [];
  let open: ToolCall[] = [];
  const close = () => {
    for (const { id, name } of open)
      whole.push({ role: "tool", toolCallId: id, name, content: INTERRUPTED, isError: true });
    open = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.some(({ id }) => id === message.toolCallId)) continue;
      open = open.filter(({ id }) => id !== message.toolCallId);
    } else {
      close();
      if (message.role === "assistant") open = [...(message.toolCalls ?? [])];
    }
    whole.push(message);
  }
  close();
  return whole;
}
