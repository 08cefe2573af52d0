// A lax reader of shell text, for denying only: it finds every simple command that might be in there, also in
// substitutions, and takes quotes and backslashes off the words. It errs on the side of seeing too many.

export interface Word {
  text: string;
  /** The shell would make something else of it: a variable, a substitution, a glob, braces. */
  isDynamic: boolean;
}

const SEPARATORS = new Set([";", "&", "|", "\n", "\r", "(", ")", "`"]);
/** In front of a command without being one. */
const PREFIX_WORDS = new Set(
  "if then else elif fi while until do done for case esac in select function { } ! time coproc".split(" "),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;

const MAX_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 20;
const MAX_FILE_NAME = 4096;
const UNKNOWN: Word = { text: "$", isDynamic: true };

/** What is too long or too deep to be read is one command that nobody knows. */
export function simpleCommands(text: string, depth = 0): Word[][] {
  if (depth > MAX_DEPTH || text.length > MAX_CHARACTERS) return [[UNKNOWN]];
  const reader = new Reader(text, depth);
  return reader
    .read()
    .flatMap(splitAtBraces)
    .map(withoutPrefix)
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
    // A backslash at the end of a line joins it with the next one.
    this.#text = text.replace(/\\\r?\n/g, "");
  }

  read(): Word[][] {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? "";
      if (char === "'") this.#singleQuoted();
      else if (char === '"') this.#doubleQuoted();
      else this.#bare(char);
      this.#at += 1;
    }
    this.#endCommand();
    return this.#commands;
  }

  #bare(char: string): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (char === "\\") {
      this.#add(next);
      this.#at += 1;
    } else if (char === "$" && (next === "'" || next === '"')) {
      // $'…' is a quote with escapes, $"…" a translated one.
      this.#at += 1;
      if (next === "'") this.#ansiQuoted();
      else this.#doubleQuoted();
    } else if (char === "$" && next === "(") {
      // The outer command goes on behind it with a word that nobody knows.
      this.#substitution();
    } else if (char === "`") this.#backquoted();
    else if (SEPARATORS.has(char)) this.#endCommand();
    else if (char === "<" || char === ">") this.#redirection();
    else if (/\s/.test(char)) this.#endWord();
    else this.#add(char, /[$*?[{~]/.test(char));
  }

  #singleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    const to = end === -1 ? this.#text.length : end;
    this.#add(this.#text.slice(this.#at + 1, to));
    this.#at = to;
  }

  #ansiQuoted(): void {
    let text = "";
    for (this.#at += 1; this.#at < this.#text.length && this.#text[this.#at] !== "'"; this.#at += 1) {
      if (this.#text[this.#at] !== "\\") text += this.#text[this.#at];
      else {
        const code = /^\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)/s.exec(
          this.#text.slice(this.#at, this.#at + 12),
        )?.[1];
        text += unescaped(code ?? "");
        this.#at += code?.length ?? 0;
      }
    }
    this.#add(text);
  }

  #doubleQuoted(): void {
    this.#add("");
    for (this.#at += 1; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at += 1) {
      const char = this.#text[this.#at] ?? "";
      const next = this.#text[this.#at + 1] ?? "";
      if (char === "\\" && /[$`"\\]/.test(next)) {
        this.#add(next);
        this.#at += 1;
      } else if (char === "$" && next === "(") this.#substitution();
      else if (char === "`") this.#backquoted();
      else this.#add(char, char === "$");
    }
  }

  /** At "$(": what is inside is read as commands of its own. */
  #substitution(): void {
    let depth = 0;
    const from = this.#at + 2;
    let to = from;
    for (; to < this.#text.length; to += 1) {
      if (this.#text[to] === "(") depth += 1;
      else if (this.#text[to] === ")" && depth-- === 0) break;
    }
    this.#inner(this.#text.slice(from, to));
    this.#at = to;
  }

  #backquoted(): void {
    const end = this.#text.indexOf("`", this.#at + 1);
    const to = end === -1 ? this.#text.length : end;
    this.#inner(this.#text.slice(this.#at + 1, to));
    this.#at = to;
  }

  #inner(text: string): void {
    this.#add("$", true);
    for (const words of simpleCommands(text, this.#depth + 1)) this.#commands.push(words);
  }

  /** The file of a redirection is no argument; "<(" and ">(" begin a command. */
  #redirection(): void {
    if (/^\d*$/.test(this.#word?.text ?? "x")) this.#word = undefined;
    this.#endWord();
    while (/[<>&|-]/.test(this.#text[this.#at + 1] ?? "")) this.#at += 1;
    if (this.#text[this.#at + 1] === "(") return;
    while (/[ \t]/.test(this.#text[this.#at + 1] ?? "")) this.#at += 1;
    // A quoted or substituted one stays as an argument: it may hold commands.
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

/** The body of a function begins a command, whatever stands before it. */
function splitAtBraces(words: Word[]): Word[][] {
  const parts: Word[][] = [[]];
  for (const word of words) {
    if (word.text === "{") parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function withoutPrefix(words: Word[]): Word[] {
  const start = words.findIndex(({ text }) => !PREFIX_WORDS.has(text) && !ASSIGNMENT.test(text));
  return start === -1 ? [] : words.slice(start);
}

function unescaped(code: string): string {
  if (/^[xuU][0-9a-fA-F]/.test(code)) return codePoint(Number.parseInt(code.slice(1), 16));
  if (/^[0-7]/.test(code)) return codePoint(Number.parseInt(code, 8));
  return { n: "\n", t: "\t", r: "\r" }[code] ?? code;
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
