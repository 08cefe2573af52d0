// A lax shell parser, for denying only. It finds every simple command, including those in substitutions, and removes quotes
// and backslashes. It errs on the side of finding too many.

export interface Word {
  text: string;
  /** The shell would expand it: a variable, substitution, glob or braces. */
  isDynamic: boolean;
}

const SEPARATORS = new Set([";", "&", "|", "\n", "\r", "(", ")", "`"]);
/** Precede a command without being one. */
const PREFIX_WORDS = new Set(
  "if then else elif fi while until do done for case esac in select function { } ! time coproc".split(" "),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;

const MAX_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 20;
const MAX_FILE_NAME = 4096;
const UNKNOWN: Word = { text: "$", isDynamic: true };

/** Text that is too long or too deeply nested yields one unknown command. */
export function splitCommands(text: string, depth = 0): Word[][] {
  if (depth > MAX_DEPTH || text.length > MAX_CHARACTERS) return [[UNKNOWN]];
  const reader = new Reader(text, depth);
  return reader
    .read()
    .flatMap(splitAtBraces)
    .map(stripPrefix)
    .filter((words) => words.length > 0);
}

class Reader {
  readonly #text: string;
  readonly #depth: number;
  readonly #commands: Word[][] = [];
  #words: Word[] = [];
  #word: Word | undefined;
  #at = 0;

  constructor(text: string, depth: number) {
    this.#depth = depth;
    // A backslash at the end of a line continues it.
    this.#text = text.replace(/\\\r?\n/g, "");
  }

  read(): Word[][] {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? "";
      if (char === "'") this.#add(this.#takeQuoted("'"));
      else if (char === '"') this.#readDoubleQuotes();
      else this.#readBare(char);
      this.#at += 1;
    }
    this.#endCommand();
    return this.#commands;
  }

  #readBare(char: string): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (char === "\\") {
      this.#add(next);
      this.#at += 1;
    } else if (char === "$" && (next === "'" || next === '"')) {
      // $'…' is a quote with escapes, $"…" a translated one.
      this.#at += 1;
      if (next === "'") this.#readAnsiQuotes();
      else this.#readDoubleQuotes();
    } else if (char === "$" && next === "(") {
      // The outer command continues with an unknown word.
      this.#readSubstitution();
    } else if (char === "`") this.#addNested(this.#takeQuoted("`"));
    else if (SEPARATORS.has(char)) this.#endCommand();
    else if (char === "<" || char === ">") this.#readRedirection();
    else if (/\s/.test(char)) this.#endWord();
    else this.#add(char, /[$*?[{~]/.test(char));
  }

  /** The text up to the next `quote`, or the rest. */
  #takeQuoted(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    const from = this.#at + 1;
    this.#at = end === -1 ? this.#text.length : end;
    return this.#text.slice(from, this.#at);
  }

  #readAnsiQuotes(): void {
    let text = "";
    for (this.#at += 1; this.#at < this.#text.length && this.#text[this.#at] !== "'"; this.#at += 1) {
      if (this.#text[this.#at] !== "\\") text += this.#text[this.#at];
      else {
        const code = /^\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)/s.exec(
          this.#text.slice(this.#at, this.#at + 12),
        )?.[1];
        text += decodeEscape(code ?? "");
        this.#at += code?.length ?? 0;
      }
    }
    this.#add(text);
  }

  #readDoubleQuotes(): void {
    this.#add("");
    for (this.#at += 1; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at += 1) {
      const char = this.#text[this.#at] ?? "";
      const next = this.#text[this.#at + 1] ?? "";
      if (char === "\\" && /[$`"\\]/.test(next)) {
        this.#add(next);
        this.#at += 1;
      } else if (char === "$" && next === "(") this.#readSubstitution();
      else if (char === "`") this.#addNested(this.#takeQuoted("`"));
      else this.#add(char, char === "$");
    }
  }

  /** At "$(": the content is parsed as separate commands. */
  #readSubstitution(): void {
    let depth = 0;
    const from = this.#at + 2;
    let to = from;
    for (; to < this.#text.length; to += 1) {
      if (this.#text[to] === "(") depth += 1;
      else if (this.#text[to] === ")" && depth-- === 0) break;
    }
    this.#addNested(this.#text.slice(from, to));
    this.#at = to;
  }

  #addNested(text: string): void {
    this.#add("$", true);
    for (const words of splitCommands(text, this.#depth + 1)) this.#commands.push(words);
  }

  /** The file of a redirection is not an argument; "<(" and ">(" start a command. */
  #readRedirection(): void {
    if (/^\d*$/.test(this.#word?.text ?? "x")) this.#word = undefined;
    this.#endWord();
    while (/[<>&|-]/.test(this.#text[this.#at + 1] ?? "")) this.#at += 1;
    if (this.#text[this.#at + 1] === "(") return;
    while (/[ \t]/.test(this.#text[this.#at + 1] ?? "")) this.#at += 1;
    // A quoted or substituted file name stays as an argument: it may contain commands.
    const file =
      this.#text.slice(this.#at + 1, this.#at + 1 + MAX_FILE_NAME).match(/^[^\s;&|()<>]*/)?.[0] ?? "";
    if (!/['"`$\\]/.test(file)) this.#at += file.length;
  }

  #add(text: string, isDynamic = false): void {
    this.#word ??= { text: "", isDynamic: false };
    this.#word.text += text;
    this.#word.isDynamic ||= isDynamic;
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
  }

  #endCommand(): void {
    this.#endWord();
    if (this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = [];
  }
}

/** The body of a function starts a command. */
function splitAtBraces(words: Word[]): Word[][] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text === "{") parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function stripPrefix(words: Word[]): Word[] {
  const start = words.findIndex(({ text }) => !PREFIX_WORDS.has(text) && !ASSIGNMENT.test(text));
  return start === -1 ? [] : words.slice(start);
}

function decodeEscape(code: string): string {
  if (/^[xuU][0-9a-fA-F]/.test(code)) return toCharacter(Number.parseInt(code.slice(1), 16));
  if (/^[0-7]/.test(code)) return toCharacter(Number.parseInt(code, 8));
  return { n: "\n", t: "\t", r: "\r" }[code] ?? code;
}

function toCharacter(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
