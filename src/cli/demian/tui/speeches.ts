// Which message the words of an agent belong to: pieces and whole of one message have one name, and an answer that
// begins again has another.
import type { InvocationFields } from "../../../runtime/events.ts";

interface Speech {
  message_id: string;
  /** Pieces of it were told. */
  hasText: boolean;
  /** What the message before it said. */
  last?: string;
}

type Said = InvocationFields & { text: string };

export class Speeches {
  readonly #speeches = new Map<string, Speech>();
  #count = 0;

  /** What comes now is not glued to what there is. */
  restart(who: InvocationFields): void {
    this.#speeches.set(keyOf(who), this.#begin());
  }

  say(event: Said): { text: string; item_id: string } {
    const speech = this.#of(event);
    speech.hasText = true;
    return { text: event.text, item_id: speech.message_id };
  }

  think(event: Said): { text: string; item_id: string } {
    return { text: event.text, item_id: `${this.#of(event).message_id}-thought` };
  }

  /**
   * The message is whole. Undefined: it says nothing, or was told already: an agent with a loop of its own tells its
   * last message once more as the final one.
   */
  end(event: Said & { final: boolean }): string | undefined {
    const { text, final } = event;
    const speech = this.#of(event);
    const isKnown = !speech.hasText && final && text === speech.last;
    this.#speeches.set(keyOf(event), { ...this.#begin(), last: text });
    return text === "" || isKnown ? undefined : speech.message_id;
  }

  #of(who: InvocationFields): Speech {
    const known = this.#speeches.get(keyOf(who));
    if (known !== undefined) return known;
    this.restart(who);
    return this.#speeches.get(keyOf(who)) ?? this.#begin();
  }

  #begin(): Speech {
    this.#count += 1;
    return { message_id: `msg_${this.#count}`, hasText: false };
  }
}

function keyOf({ invocationId = "", parentCallId = "" }: InvocationFields): string {
  return JSON.stringify([invocationId, parentCallId]);
}
