// One-time tickets in links to the dashboard: each works once, for a limited time, and only with the daemon that made it.
// Only digests are kept; tickets are never logged.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const TICKET_BYTES = 32;
const LIFE_MS = 10 * 60_000;
/** Beyond this number, the oldest ticket is dropped. */
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

  /** Whether the ticket is valid. Uses it up, synchronously, so that it cannot be used twice. */
  redeem(ticket: string): boolean {
    const given = digest(ticket);
    const valid = this.#valid();
    // Compares with all of them, so that timing reveals nothing.
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
