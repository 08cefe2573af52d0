// Masks secrets in text that comes in pieces: what may still become one is held back until that is decided, so that the
// pieces together are the masked text.
import { maskSecrets } from "./mask-secrets.ts";

/** No secret but a private key has one of these in it. */
const BOUNDARY = /[^A-Za-z0-9_.-](?=[A-Za-z0-9_.-]*$)/;
const BEGIN = "-----BEGIN";
const HEADER = /^-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
const HALF_HEADER = /^-----BEGIN[A-Z ]{0,80}-{0,5}$/;
const END = /-----END [A-Z ]{0,40}-----/;
/** As long as a private key is looked at (mask-secrets.ts), with its ends. */
const MAX_KEY_CHARS = 20_200;

export class SecretStream {
  #held = "";

  /** What may be shown now. */
  push(text: string): string {
    this.#held += text;
    const end = settledEnd(this.#held);
    const settled = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return settled === "" ? "" : maskSecrets(settled);
  }

  /** The rest. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return maskSecrets(rest);
  }
}

function settledEnd(text: string): number {
  const boundary = BOUNDARY.exec(text);
  const end = boundary === null ? 0 : boundary.index + 1;
  for (let at = text.indexOf(BEGIN); at !== -1 && at < end; at = text.indexOf(BEGIN, at + 1)) {
    if (isOpen(text.slice(at), end - at)) return at;
  }
  return end;
}

/** Whether it may be a private key that has not ended within the first `length` characters. */
function isOpen(text: string, length: number): boolean {
  if (length > MAX_KEY_CHARS) return false;
  if (!HEADER.test(text)) return HALF_HEADER.test(text);
  const end = END.exec(text);
  return end === null || end.index + end[0].length > length;
}
