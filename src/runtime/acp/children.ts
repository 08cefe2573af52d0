// What sub-agents say. It is not the answer of the session, so no client may glue it to that: it goes as `_demian/event`,
// in pieces of some length instead of one notification a word.
import type { RuntimeEvent } from "../events.ts";
import { Speech } from "./speech.ts";

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

/** A sub-agent did it: one of ours, or one of an agent with a loop of its own. */
export function isOfChild({ agentPath = [], parentCallId }: RuntimeEvent): boolean {
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

  /** An event of a sub-agent. Gives what is to be told before it, and of it. */
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

  /** What waits to become longer. */
  flush(): Piece[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting === undefined ? [] : [waiting];
  }

  #add(event: Said, hear: (speech: Speech) => [text: string, messageId: string], key: string): Piece[] {
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
