// What sub-agents say. It is not the answer of the session, so no client may glue it to that: it goes as `_demian/event`,
// in pieces of some length instead of one notification a word.
import type { RuntimeEvent } from "../events.ts";
import { Halves } from "./well-formed.ts";

/** A piece that is this long does not wait for more. */
const PIECE_CHARS = 4096;

type Said = Extract<
  RuntimeEvent,
  { type: "model.text.delta" | "model.reasoning.delta" | "model.text"; text: string }
>;

/** Text of one message of one sub-agent. */
export interface Piece {
  event: Said;
  messageId: string;
}

interface Message {
  id: string;
  hasText: boolean;
  readonly text: Halves;
  readonly thought: Halves;
}

/** A sub-agent did it: one of ours, or one of an agent with a loop of its own. */
export function isOfChild({ agentPath = [], parentCallId }: RuntimeEvent): boolean {
  return agentPath.length > 0 || parentCallId !== undefined;
}

export class ChildTexts {
  readonly #newId: () => string;
  readonly #messages = new Map<string, Message>();
  #waiting: Piece | undefined;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** An event of a sub-agent. Gives what is to be told before it, and of it. */
  hear(event: RuntimeEvent): Piece[] {
    const key = event.invocationId ?? event.parentCallId ?? "";
    switch (event.type) {
      case "model.request":
      case "provider.retry":
        // What comes now begins from the start again.
        this.#messages.delete(key);
        return this.flush();
      case "model.text.delta":
      case "model.reasoning.delta":
        return this.#add(event, this.#message(key));
      case "model.text": {
        const message = this.#message(key);
        // Without streaming there were no deltas.
        if (message.hasText || event.text === "") return this.flush();
        return [...this.flush(), { event, messageId: message.id }];
      }
      case "turn.ended":
        this.#messages.delete(key);
        return this.flush();
      default:
        return this.flush();
    }
  }

  /** What waits to become longer. */
  flush(): Piece[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting === undefined ? [] : [waiting];
  }

  #add(event: Said, message: Message): Piece[] {
    const isText = event.type === "model.text.delta";
    const text = (isText ? message.text : message.thought).push(event.text);
    if (text === "") return [];
    if (isText) message.hasText = true;
    const messageId = isText ? message.id : `${message.id}-thought`;
    const isSame = this.#waiting?.messageId === messageId;
    const before = isSame ? [] : this.flush();
    const whole = `${this.#waiting?.event.text ?? ""}${text}`;
    this.#waiting = { event: { ...event, text: whole }, messageId };
    return whole.length < PIECE_CHARS ? before : [...before, ...this.flush()];
  }

  #message(key: string): Message {
    const known = this.#messages.get(key);
    if (known !== undefined) return known;
    const message = { id: this.#newId(), hasText: false, text: new Halves(), thought: new Halves() };
    this.#messages.set(key, message);
    return message;
  }
}
