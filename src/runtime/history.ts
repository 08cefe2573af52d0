// The conversation of a session, without system messages. Always complete: every tool call in it has a result, even if
// a turn was cut short.
import { randomUUID } from "node:crypto";
import {
  type AssistantMessage,
  type Message,
  readUserText,
  type ToolCall,
  type UserMessage,
} from "./messages.ts";

export interface HistoryWatcher {
  onMessage?(message: Message): void;
  onHistory?(history: readonly Message[]): void;
}

/** Some providers restart their call ids with each answer, and an id becomes part of a file name. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The result of a call that has none. */
export const INTERRUPTED =
  "Not finished: demian ended before this call gave a result. What it did until then is unknown; check before you repeat it.";

export class History {
  readonly #watcher: HistoryWatcher;
  readonly #callIds: Set<string>;
  #request = "";
  #notes = "";
  #messages: Message[] = [];
  #chars = 0;

  /** `callIds`: ids in use, shared by histories whose calls appear in one event stream. */
  constructor(
    watcher: HistoryWatcher,
    messages: readonly Message[] = [],
    callIds: Set<string> = new Set<string>(),
  ) {
    this.#callIds = callIds;
    this.#watcher = watcher;
    this.#messages = completeToolCalls(messages.filter(({ role }) => role !== "system"));
    for (const message of this.#messages) this.#remember(message);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Approximate size in memory, including images. */
  get chars(): number {
    return this.#chars;
  }

  /** The last user request, as hooks left it. */
  get request(): string {
    return this.#request;
  }

  /** Shared with the histories of sub-agents. */
  get callIds(): Set<string> {
    return this.#callIds;
  }

  /** Text that the model reads before the last request. */
  get notes(): string {
    return this.#notes;
  }

  /** Starts a turn with a user message. `notes`: for the model, before it. */
  begin(message: UserMessage, notes = ""): void {
    this.#request = readUserText(message);
    this.#notes = notes;
    this.push(notes === "" ? message : prependNotes(message, notes));
  }

  push(message: Message): void {
    this.#remember(message);
    this.#messages.push(message);
    this.#watcher.onMessage?.(message);
  }

  replace(messages: readonly Message[]): void {
    this.#messages = [...messages];
    this.#chars = this.#messages.reduce((sum, message) => sum + countChars(message), 0);
    this.#watcher.onHistory?.(this.#messages);
  }

  /** The same answer, with call ids that are unique in this conversation. */
  makeCallIdsUnique(message: AssistantMessage): AssistantMessage {
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
    this.#chars += countChars(message);
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) this.#callIds.add(id);
  }
}

function prependNotes(message: UserMessage, notes: string): UserMessage {
  const { content } = message;
  if (typeof content === "string") return { role: "user", content: `${notes}\n\n${content}` };
  return { role: "user", content: [{ type: "text", text: notes }, ...content] };
}

function countChars({ content, ...rest }: Message): number {
  const text = typeof content === "string" ? content.length : JSON.stringify(content ?? "").length;
  return text + ("toolCalls" in rest ? JSON.stringify(rest.toolCalls).length : 0);
}

/** Repairs the history of a process that died: calls without results get one, results without calls are dropped. */
export function completeToolCalls(messages: readonly Message[]): Message[] {
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
