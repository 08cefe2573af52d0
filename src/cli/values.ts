// Parses typed input: words, quoted words, `key=value` pairs. A value is null, true, false, an integer or other JSON, or
// else the string itself.
import { UsageError } from "./command.ts";

/** Keys of an open that are not backend options. */
const TOP_KEYS = new Set(["backend", "resume", "last_seen_seq", "answers"]);
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

export function parseValue(text: string): unknown {
  if (/^-?\d+$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : text;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Invalid JSON is an error here, not a string. */
export function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`invalid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("invalid JSON: expected an object {…}");
  }
  return value as Record<string, unknown>;
}

export function parsePairs(tokens: readonly string[]): [string, unknown][] {
  return tokens.map((token) => {
    const at = token.indexOf("=");
    if (at < 1) throw new UsageError(`expected key=value, got ${token}`);
    return [token.slice(0, at), parseValue(token.slice(at + 1))];
  });
}

export interface OpenWords {
  backend: string;
  top: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** `backend=`, `resume=`, `last_seen_seq=` and `answers=` belong to the open itself, other keys to the backend's options. */
export function parseOpenPairs(tokens: readonly string[], defaultBackend: string): OpenWords {
  const pairs = parsePairs(tokens);
  const top = Object.fromEntries(pairs.filter(([key]) => TOP_KEYS.has(key)));
  const { backend = defaultBackend, ...rest } = top;
  const options: Record<string, unknown> = {};
  for (const [key, value] of pairs) {
    if (!TOP_KEYS.has(key)) setOption(options, optionPath(key, String(backend)), value);
  }
  return { backend: String(backend), top: rest, options };
}

/** Splits at spaces outside of quotes and brackets, so `mcp={"a": 1}` and `title="two words"` stay whole. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at] ?? "")) {
      at += 1;
      continue;
    }
    const end = wordEnd(line, at);
    words.push(line.slice(at, end).replace(/^((?:[^\s=]*=)?)'([^']*)'$/, "$1$2"));
    at = end;
  }
  return words;
}

/** Quotes count only at the start of a word or value, so that `it's` is an ordinary word. */
function wordEnd(line: string, start: number): number {
  let depth = 0;
  for (let at = start; at < line.length; at += 1) {
    const char = line[at] ?? "";
    const isStart = at === start || line[at - 1] === "=";
    if (char === '"' || (char === "'" && depth === 0)) {
      if (depth > 0 || isStart) at = closingQuote(line, at);
    } else if ("[{".includes(char) && (depth > 0 || isStart)) depth += 1;
    else if ("]}".includes(char) && depth > 0) depth -= 1;
    else if (depth === 0 && /\s/.test(char)) return at;
  }
  return line.length;
}

/** The position of the closing quote, or `at` if there is none. */
function closingQuote(line: string, at: number): number {
  const pattern = line[at] === '"' ? /"(?:[^"\\]|\\.)*"/y : /'[^']*'/y;
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex - 1 : at;
}

/** `options.model`, `options.claude.model` and `model` are the same; further dots nest. */
function optionPath(key: string, backend: string): string[] {
  const path = key.split(".");
  if (path[0] === "options") path.shift();
  if (path[0] === backend && path.length > 1) path.shift();
  const bad = path.find((part) => part === "" || FORBIDDEN.has(part));
  if (bad !== undefined || path.length === 0) throw new UsageError(`bad option name ${key}`);
  return path;
}

function setOption(options: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = "", ...tail] = path;
  if (tail.length === 0) {
    options[head] = value;
    return;
  }
  const inner = options[head];
  const block = typeof inner === "object" && inner !== null ? { ...inner } : {};
  options[head] = block;
  setOption(block as Record<string, unknown>, tail, value);
}
