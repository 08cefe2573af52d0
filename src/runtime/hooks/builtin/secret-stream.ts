// Masks secrets in text that comes in pieces: what may still become one is held back until that is decided, so that the
// pieces together are the masked text.
import { maskSecrets, PRIVATE_KEY } from "./mask-secrets.ts";

/** How secrets begin (mask-secrets.ts); what does not begin like one of them is shown at once. */
const STARTS = [
  ...["sk-", "sk_", "rk_", "pk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_"],
  ...["AKIA", "ASIA", "xox", "AIza", "ya29.", "gsk_", "hf_", "eyJ"],
];
/** No secret but a private key has one of these in it. */
const BOUNDARY = /[^A-Za-z0-9_.-](?=[A-Za-z0-9_.-]*$)/;
const TOKEN = /[A-Za-z0-9_.-]/;
const WORD = /[A-Za-z0-9_-]/;
const BEGIN = "-----BEGIN ";
const HALF_HEADER = /^-----BEGIN [A-Z ]{0,80}-{0,5}$/;
const END = /-----END [A-Z ]{0,40}-----$/;
const HALF_END = /^(?:-{0,5}|-----E|-----EN|-----END|-----END [A-Z ]{0,40}-{0,4})$/;
/** As long as a private key is looked at, with its ends. */
const MAX_KEY_CHARS = 20_200;

export class SecretStream {
  #held = "";
  /** The last character shown is part of a word: none of these secrets begins in the middle of one. */
  #isInWord = false;

  /** What may be shown now. */
  push(text: string): string {
    this.#held += text;
    return this.#take(settledEnd(this.#held, this.#isInWord));
  }

  /** The rest. */
  end(): string {
    return this.#take(this.#held.length);
  }

  #take(length: number): string {
    if (length === 0) return "";
    const settled = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const masked = this.#isInWord ? maskSecrets(`_${settled}`).slice(1) : maskSecrets(settled);
    this.#isInWord = WORD.test(masked.slice(-1));
    return masked;
  }
}

function settledEnd(text: string, isInWord: boolean): number {
  const boundary = BOUNDARY.exec(text);
  const run = boundary === null ? 0 : boundary.index + 1;
  let end = text.length;
  for (let at = text.length - 1; at >= run; at -= 1) {
    // Behind a dash as well: it may be the last of a private key.
    const isStart = at === 0 ? !isInWord : !/\w/.test(text.charAt(at - 1));
    if (isStart && mayBegin(text.slice(at))) end = at;
  }
  let behind = 0; // the last private key
  for (let at = text.indexOf("-"); at !== -1 && at < end; ) {
    const key = keyAt(text, at);
    if (key === "open") return tokenStart(text, at, behind);
    if (key > at + 1) behind = key;
    at = text.indexOf("-", key);
  }
  return end;
}

/** A key of another kind that stands right before a header takes the dashes in: they are decided together. */
function tokenStart(text: string, at: number, behind: number): number {
  let start = at;
  while (start > behind && TOKEN.test(text.charAt(start - 1))) start -= 1;
  return start;
}

function mayBegin(text: string): boolean {
  return STARTS.some((start) => text.startsWith(start) || start.startsWith(text));
}

/** Where to look on: behind a private key, or behind this character. `open`: it may be a key that has not ended. */
function keyAt(text: string, at: number): number | "open" {
  const rest = text.slice(at, at + MAX_KEY_CHARS);
  if (BEGIN.startsWith(rest) || HALF_HEADER.test(rest)) return "open";
  const key = PRIVATE_KEY.exec(rest)?.[0];
  if (key === undefined || !rest.startsWith(key)) return at + 1;
  return HALF_END.test(rest.slice(key.length)) && !END.test(key) ? "open" : at + key.length;
}
