// One-time words of the links to the dashboard: each opens it once, for a while, and only in the daemon that made it.
// Only their digests are kept; nothing of them is ever logged.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const TICKET_BYTES = 32;
const LIFE_MS = 10 * 60_000;
/** Past this the oldest link no longer works: whoever asks for so many uses the newest. */
const MAX_OPEN = 16;

export interface Ticket {
  ticket: string;
  expires_at_ms: number;
}

interface Open {
  digest: Buffer;
  expires_at_ms: number;
}

export class Tickets {
  readonly #now: () => number;
  #open: Open[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  issue(): Ticket {
    const ticket = randomBytes(TICKET_BYTES).toString("base64url");
    const expires_at_ms = this.#now() + LIFE_MS;
    this.#open = [...this.#valid(), { digest: digest(ticket), expires_at_ms }].slice(-MAX_OPEN);
    return { ticket, expires_at_ms };
  }

  /** Whether it is one of ours and still good. It is used up by that: nothing waits between the look and the end. */
  redeem(ticket: string): boolean {
    const given = digest(ticket);
    const valid = this.#valid();
    // All of them are compared, so that the time says nothing about any.
    const others = valid.filter((open) => !timingSafeEqual(open.digest, given));
    this.#open = others;
    return others.length < valid.length;
  }

  #valid(): Open[] {
    const nowMs = this.#now();
    return this.#open.filter(({ expires_at_ms }) => nowMs < expires_at_ms);
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
