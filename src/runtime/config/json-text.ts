// JSON as people write it in a file: faults are told with line and column, and a key that stands twice is one of them
// (JSON.parse would silently forget the first `permissions`). Objects have no prototype.
import { CodedError } from "../../base/coded-error.ts";

const MAX_DEPTH = 64;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_]\w*/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Throws `config_invalid`: `<name>:<line>:<column>: what was found and expected`. */
export function parseJsonText(text: string, name: string): unknown {
  return new Reader(text.startsWith("\ufeff") ? text.slice(1) : text, name).whole();
}

class Reader {
  readonly #text: string;
  readonly #name: string;
  #at = 0;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  whole(): unknown {
    const value = this.#value(1);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail(`expected the end of the file, found ${this.#found()}`);
    return value;
  }

  #value(depth: number): unknown {
    if (depth > MAX_DEPTH) this.#fail(`nested deeper than ${MAX_DEPTH} levels`);
    this.#skipSpace();
    const char = this.#text[this.#at];
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#array(depth);
    if (char === '"') return this.#string();
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#finite(number);
    const start = this.#at;
    const word = this.#match(WORD) ?? "";
    if (WORDS.has(word)) return WORDS.get(word);
    this.#at = start;
    return this.#fail(`expected a value, found ${this.#found()}`);
  }

  #object(depth: number): Record<string, unknown> {
    const object = Object.create(null) as Record<string, unknown>;
    this.#at += 1;
    if (this.#skips("}")) return object;
    do {
      this.#skipSpace();
      const start = this.#at;
      if (this.#text[start] !== '"') this.#fail(`expected a key in double quotes, found ${this.#found()}`);
      const key = this.#string();
      if (FORBIDDEN_KEYS.has(key)) this.#fail(`the key "${key}" is not allowed`, start);
      if (key in object) this.#fail(`the key "${key}" stands here a second time`, start);
      if (!this.#skips(":")) this.#fail(`expected ":" after "${key}", found ${this.#found()}`);
      object[key] = this.#value(depth + 1);
    } while (this.#skips(","));
    if (!this.#skips("}")) this.#fail(`expected "," or "}", found ${this.#found()}`);
    return object;
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    if (this.#skips("]")) return items;
    do items.push(this.#value(depth + 1));
    while (this.#skips(","));
    if (!this.#skips("]")) this.#fail(`expected "," or "]", found ${this.#found()}`);
    return items;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (; ; end += 1) {
      const char = this.#text[end];
      if (char === undefined || char === "\n") this.#fail("a text that does not end", start);
      if (char === "\\") end += 1;
      else if (char === '"') break;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      return this.#fail("a text with a control character or an escape that JSON does not have", start);
    }
  }

  #finite(digits: string): number {
    const number = Number(digits);
    return Number.isFinite(number) ? number : this.#fail(`the number ${digits} is out of range`);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skips(char: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #found(): string {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === "") return "the end of the file";
    if (rest === "//" || rest === "/*") return "a comment, which JSON does not have";
    if (rest[0] === "}" || rest[0] === "]") return `"${rest[0]}" (after a "," too many?)`;
    return JSON.stringify(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0));
  }

  #fail(what: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    throw new CodedError("config_invalid", `${this.#name}:${line}:${column}: ${what}`);
  }
}
