// Parses hand-written JSON: errors have line and column, and duplicate keys are errors (JSON.parse would silently drop
// the first `permissions`). Objects have no prototype.
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

/** Throws `config_invalid`: `<name>:<line>:<column>: found and expected`. */
export function parseJsonText(text: string, name: string): unknown {
  return new Reader(text.startsWith("\ufeff") ? text.slice(1) : text, name).parseWhole();
}

class Reader {
  readonly #text: string;
  readonly #name: string;
  #at = 0;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  parseWhole(): unknown {
    const value = this.#parseValue(1);
    this.#skipSpace();
    if (this.#at < this.#text.length)
      this.#fail(`expected the end of the file, found ${this.#describeNext()}`);
    return value;
  }

  #parseValue(depth: number): unknown {
    if (depth > MAX_DEPTH) this.#fail(`nested deeper than ${MAX_DEPTH} levels`);
    this.#skipSpace();
    const char = this.#text[this.#at];
    if (char === "{") return this.#parseObject(depth);
    if (char === "[") return this.#parseArray(depth);
    if (char === '"') return this.#parseString();
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#parseNumber(number);
    const start = this.#at;
    const word = this.#match(WORD) ?? "";
    if (WORDS.has(word)) return WORDS.get(word);
    this.#at = start;
    return this.#fail(`expected a value, found ${this.#describeNext()}`);
  }

  #parseObject(depth: number): Record<string, unknown> {
    const object = Object.create(null) as Record<string, unknown>;
    this.#at += 1;
    if (this.#skips("}")) return object;
    do {
      this.#skipSpace();
      const start = this.#at;
      if (this.#text[start] !== '"')
        this.#fail(`expected a key in double quotes, found ${this.#describeNext()}`);
      const key = this.#parseString();
      if (FORBIDDEN_KEYS.has(key)) this.#fail(`the key "${key}" is not allowed`, start);
      if (key in object) this.#fail(`duplicate key "${key}"`, start);
      if (!this.#skips(":")) this.#fail(`expected ":" after "${key}", found ${this.#describeNext()}`);
      object[key] = this.#parseValue(depth + 1);
    } while (this.#skips(","));
    if (!this.#skips("}")) this.#fail(`expected "," or "}", found ${this.#describeNext()}`);
    return object;
  }

  #parseArray(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    if (this.#skips("]")) return items;
    do items.push(this.#parseValue(depth + 1));
    while (this.#skips(","));
    if (!this.#skips("]")) this.#fail(`expected "," or "]", found ${this.#describeNext()}`);
    return items;
  }

  #parseString(): string {
    const start = this.#at;
    let end = start + 1;
    for (; ; end += 1) {
      const char = this.#text[end];
      if (char === undefined || char === "\n") this.#fail("an unterminated string", start);
      if (char === "\\") end += 1;
      else if (char === '"') break;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      return this.#fail("a string with a control character or an invalid escape", start);
    }
  }

  #parseNumber(digits: string): number {
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

  #describeNext(): string {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === "") return "the end of the file";
    if (rest === "//" || rest === "/*") return "a comment, which JSON does not allow";
    if (rest[0] === "}" || rest[0] === "]") return `"${rest[0]}" (an extra ","?)`;
    return JSON.stringify(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0));
  }

  #fail(what: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    throw new CodedError("config_invalid", `${this.#name}:${line}:${column}: ${what}`);
  }
}
