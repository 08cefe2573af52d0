// Assigns message ids: the chunks and the complete text of a message share one id, and a restarted answer gets a new one.
import type { InvocationFields } from "../../../runtime/events.ts";

interface OpenMessage {
  message_id: string;
  /** Chunks of it were published. */
  hasText: boolean;
  /** Text of the previous message. */
  last?: string;
}

type Said = InvocationFields & { text: string };

export class MessageIds {
  readonly #open = new Map<string, OpenMessage>();
  #count = 0;

  /** The next text starts a new message. */
  restart(who: InvocationFields): void {
    this.#open.set(toKey(who), this.#create());
  }

  say(event: Said): { text: string; item_id: string } {
    const speech = this.#find(event);
    speech.hasText = true;
    return { text: event.text, item_id: speech.message_id };
  }

  think(event: Said): { text: string; item_id: string } {
    return { text: event.text, item_id: `${this.#find(event).message_id}-thought` };
  }

  /** The complete message. Undefined if it is empty, or a repetition: Claude Code sends its last message again as final. */
  end(event: Said & { final: boolean }): string | undefined {
    const { text, final } = event;
    const speech = this.#find(event);
    const isKnown = !speech.hasText && final && text === speech.last;
    this.#open.set(toKey(event), { ...this.#create(), last: text });
    return text === "" || isKnown ? undefined : speech.message_id;
  }

  #find(who: InvocationFields): OpenMessage {
    const known = this.#open.get(toKey(who));
    if (known !== undefined) return known;
    this.restart(who);
    return this.#open.get(toKey(who)) ?? this.#create();
  }

  #create(): OpenMessage {
    this.#count += 1;
    return { message_id: `msg_${this.#count}`, hasText: false };
  }
}

function toKey({ invocationId = "", parentCallId = "" }: InvocationFields): string {
  return JSON.stringify([invocationId, parentCallId]);
}
