// Text of sub-agents. It is not part of the session's answer, so it is sent as `_demian/event`, in larger pieces instead of
// one notification per word.
import type { RuntimeEvent } from "../events.ts";
import { Speech } from "./speech.ts";

/** A piece this long is sent at once. */
const PIECE_CHARS = 4096;

type TextEvent = Extract<
  RuntimeEvent,
  { type: "model.text.delta" | "model.reasoning.delta" | "model.text"; text: string }
>;

/** Text of one message of one sub-agent. */
export interface Piece {
  event: TextEvent;
  messageId: string;
}

/** From one of our sub-agents, or from one of an external agent. */
export function isFromSubAgent({ agentPath = [], parentCallId }: RuntimeEvent): boolean {
  return agentPath.length > 0 || parentCallId !== undefined;
}

export class ChildTexts {
  readonly #newId: () => string;
  readonly #speeches = new Map<string, Speech>();
  #waiting: Piece | undefined;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Takes an event of a sub-agent, and returns the pieces to send before and for it. */
  hear(event: RuntimeEvent): Piece[] {
    const key = event.invocationId ?? event.parentCallId ?? "";
    switch (event.type) {
      case "model.request":
      case "provider.retry":
        this.#speech(key).restart();
        return this.flush();
      case "model.text.delta":
        return this.#add(event, (speech) => [speech.say(event.text), speech.messageId], key);
      case "model.reasoning.delta":
        return this.#add(event, (speech) => [speech.think(event.text), speech.thoughtId], key);
      case "model.text": {
        const { text, messageId } = this.#speech(key).end(event.text, event.final);
        return text === "" ? this.flush() : [...this.flush(), { event, messageId }];
      }
      case "turn.ended":
        this.#speeches.delete(key);
        return this.flush();
      default:
        return this.flush();
    }
  }

  /** Returns the piece held back to grow. */
  flush(): Piece[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting === undefined ? [] : [waiting];
  }

  #add(event: TextEvent, hear: (speech: Speech) => [text: string, messageId: string], key: string): Piece[] {
    const [text, messageId] = hear(this.#speech(key));
    if (text === "") return [];
    const before = this.#waiting?.messageId === messageId ? [] : this.flush();
    const whole = `${this.#waiting?.event.text ?? ""}${text}`;
    this.#waiting = { event: { ...event, text: whole }, messageId };
    return whole.length < PIECE_CHARS ? before : [...before, ...this.flush()];
  }

  #speech(key: string): Speech {
    const known = this.#speeches.get(key);
    if (known !== undefined) return known;
    const speech = new Speech(this.#newId);
    this.#speeches.set(key, speech);
    return speech;
  }
}
