// Masks secrets in streamed text. Text that may become a secret is held back until that is decided, so that the pieces add
// up to the masked text.
import { maskSecrets, PRIVATE_KEY } from "../../../base/secrets.ts";

/** Prefixes of secrets (base/secrets.ts); other text is shown at once. */
const STARTS = [
  ...["sk-", "sk_", "rk_", "pk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_"],
  ...["AKIA", "ASIA", "xox", "AIza", "ya29.", "gsk_", "hf_", "eyJ"],
];
/** No secret except a private key contains one of these. */
const BOUNDARY = /[^A-Za-z0-9_.-](?=[A-Za-z0-9_.-]*$)/;
const TOKEN = /[A-Za-z0-9_.-]/;
const WORD = /[A-Za-z0-9_-]/;
const BEGIN = "-----BEGIN ";
const HALF_HEADER = /^-----BEGIN [A-Z ]{0,80}-{0,5}$/;
const END = /-----END [A-Z ]{0,40}-----$/;
const HALF_END = /^(?:-{0,5}|-----E|-----EN|-----END|-----END [A-Z ]{0,40}-{0,4})$/;
/** Maximum length of a private key, with its markers. */
const MAX_KEY_CHARS = 20_200;

export class SecretStream {
  #held = "";
  /** The last character shown is part of a word; secrets start only at the beginning of one. */
  #isInWord = false;

  /** Returns the text that can be shown now. */
  push(text: string): string {
    this.#held += text;
    return this.#take(findSettledEnd(this.#held, this.#isInWord));
  }

  /** Returns the rest. */
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

function findSettledEnd(text: string, isInWord: boolean): number {
  const boundary = BOUNDARY.exec(text);
  const run = boundary === null ? 0 : boundary.index + 1;
  let end = text.length;
  for (let at = text.length - 1; at >= run; at -= 1) {
    // Also after a dash, which may be the last of a private key.
    const isStart = at === 0 ? !isInWord : !/\w/.test(text.charAt(at - 1));
    if (isStart && mayBegin(text.slice(at))) end = at;
  }
  let afterKey = 0; // end of the last private key
  for (let at = text.indexOf("-"); at !== -1 && at < end; ) {
    const key = findKeyEnd(text, at);
    if (key === "open") return findTokenStart(text, at, afterKey);
    if (key > at + 1) afterKey = key;
    at = text.indexOf("-", key);
  }
  return end;
}

/** A token directly before a header includes its dashes, so both are decided together. */
function findTokenStart(text: string, at: number, afterKey: number): number {
  let start = at;
  while (start > afterKey && TOKEN.test(text.charAt(start - 1))) start -= 1;
  return start;
}

function mayBegin(text: string): boolean {
  return STARTS.some((start) => text.startsWith(start) || start.startsWith(text));
}

/** Where to continue: after a private key, or after this character. `open`: it may be an unfinished key. */
function findKeyEnd(text: string, at: number): number | "open" {
  const rest = text.slice(at, at + MAX_KEY_CHARS);
  if (BEGIN.startsWith(rest) || HALF_HEADER.test(rest)) return "open";
  const key = PRIVATE_KEY.exec(rest)?.[0];
  if (key === undefined || !rest.startsWith(key)) return at + 1;
  return HALF_END.test(rest.slice(key.length)) && !END.test(key) ? "open" : at + key.length;
}
