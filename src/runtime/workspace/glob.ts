// Globs for paths with "/": `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any number of directories, and a leading `!`.
// No regular expressions: the matcher backtracks one step at most, so no pattern takes exponential time.
import { CodedError } from "../../base/coded-error.ts";
import { splitPath } from "./lexical.ts";

export interface GlobOptions {
  ignoreCase?: boolean;
  /** A pattern without "/" matches names in every directory, as in .gitignore. */
  anyDepth?: boolean;
}

const MAX_PATTERN_CHARS = 4096;
const MAX_ALTERNATIVES = 1024;

type Token =
  | { kind: "char"; char: string }
  | { kind: "one" }
  | { kind: "many" }
  | { kind: "set"; isNegated: boolean; ranges: readonly (readonly [number, number])[] };

/** "**" as a whole component, or the tokens of one component. */
type Segment = "**" | readonly Token[];

/**
 * `*` also matches names that start with a dot, and `dir/**` matches `dir` itself: a rule about a directory covers
 * everything in it. Throws `bad_glob` for a malformed pattern.
 */
export function createGlobMatcher(pattern: string, options: GlobOptions = {}): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw badGlobError(pattern, `is longer than ${MAX_PATTERN_CHARS} characters`);
  const isNegated = pattern.startsWith("!");
  const positive = isNegated ? pattern.slice(1) : pattern;
  if (positive === "") throw badGlobError(pattern, "is empty");
  const fold = (text: string) => (options.ignoreCase ? text.toLowerCase() : text);
  const globs = expandBraces(positive, pattern).map((glob) =>
    compile(fold(glob), options.anyDepth ?? false, pattern),
  );
  return (path) => {
    const names = splitPath(fold(path));
    return globs.some((segments) => matchPath(segments, names)) !== isNegated;
  };
}

/** Expands braces: one pattern per alternative. Empty for a pattern that only excludes ("!…"). */
export function listGlobAlternatives(pattern: string): string[] {
  return pattern.startsWith("!") ? [] : expandBraces(pattern, pattern);
}

function badGlobError(pattern: string, fault: string): CodedError {
  const shown = pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern;
  return new CodedError("bad_glob", `the glob "${shown}" ${fault}`);
}

/** `a{b,c{d,e}}` is `ab`, `acd`, `ace`. A group without a comma is literal. */
function expandBraces(glob: string, pattern: string): string[] {
  const done: string[] = [];
  const open = [glob];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = findGroup(next, pattern);
    if (group === undefined) done.push(next);
    else for (const part of group.parts.toReversed()) open.push(group.before + part + group.after);
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw badGlobError(pattern, `has more than ${MAX_ALTERNATIVES} alternatives`);
    }
  }
  return done;
}

interface Group {
  before: string;
  parts: string[];
  after: string;
}

/** The first group with a comma. */
function findGroup(glob: string, pattern: string): Group | undefined {
  const starts: { at: number; commas: number[] }[] = [];
  let found: Group | undefined;
  for (let at = 0; at < glob.length && found === undefined; at += 1) {
    const char = glob[at];
    if (char === "\\") at += 1;
    else if (char === "[") at = Math.max(at, findSetEnd(glob, at));
    else if (char === "{") starts.push({ at, commas: [] });
    else if (char === ",") starts.at(-1)?.commas.push(at);
    else if (char === "}") {
      const start = starts.pop();
      if (start === undefined)
        throw badGlobError(pattern, 'has a "}" without "{"; write \\} for the character');
      if (start.commas.length > 0) found = splitGroup(glob, start.at, start.commas, at);
    }
  }
  if (found === undefined && starts.length > 0) {
    throw badGlobError(pattern, 'has a "{" without "}"; write \\{ for the character');
  }
  return found;
}

function splitGroup(glob: string, from: number, commas: readonly number[], to: number): Group {
  const edges = [from, ...commas, to];
  const parts = edges.slice(1).map((edge, index) => glob.slice((edges[index] ?? 0) + 1, edge));
  return { before: glob.slice(0, from), parts, after: glob.slice(to + 1) };
}

/** Where a set that starts at `from` ends; -1: not a set. A leading "]" does not end it. */
function findSetEnd(glob: string, from: number): number {
  const first = glob[from + 1] === "!" || glob[from + 1] === "^" ? from + 2 : from + 1;
  const end = glob.indexOf("]", first + 1);
  const slash = glob.indexOf("/", from);
  return end === -1 || (slash !== -1 && slash < end) ? -1 : end;
}

function compile(glob: string, anyDepth: boolean, pattern: string): Segment[] {
  // A directory by name: everything in it.
  const whole = glob.endsWith("/") ? `${glob}**` : glob;
  const segments: Segment[] = splitPath(whole).map((name) =>
    name === "**" ? name : tokenize(name, pattern),
  );
  return anyDepth && !glob.includes("/") ? ["**", ...segments] : segments;
}

function tokenize(name: string, pattern: string): Token[] {
  const list: Token[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const char = String.fromCodePoint(name.codePointAt(at) ?? 0);
    at += char.length - 1;
    const setEnd = char === "[" ? findSetEnd(name, at) : -1;
    if (char === "*") {
      if (list.at(-1)?.kind !== "many") list.push({ kind: "many" });
    } else if (char === "?") list.push({ kind: "one" });
    else if (setEnd !== -1) {
      list.push(parseSet(name.slice(at + 1, setEnd), pattern));
      at = setEnd;
    } else if (char === "\\" && at + 1 < name.length) {
      const escaped = String.fromCodePoint(name.codePointAt(at + 1) ?? 0);
      list.push({ kind: "char", char: escaped });
      at += escaped.length;
    } else list.push({ kind: "char", char });
  }
  return list;
}

function parseSet(body: string, pattern: string): Token {
  const isNegated = body.startsWith("!") || body.startsWith("^");
  const members = Array.from(isNegated ? body.slice(1) : body, (char) => char.codePointAt(0) ?? 0);
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? 0;
    const to = members[at + 2];
    const isRange = members[at + 1] === 0x2d && to !== undefined;
    if (isRange && to < from) throw badGlobError(pattern, `has a reversed range: [${body}]`);
    ranges.push([from, isRange ? to : from]);
    if (isRange) at += 2;
  }
  return { kind: "set", isNegated, ranges };
}

/** Only the last "**" ever needs to match more: a shorter match of an earlier one fits anything that follows. */
function matchPath(segments: readonly Segment[], names: readonly string[]): boolean {
  const fits = (segment: Segment, name: string) => segment !== "**" && matchTokens(segment, Array.from(name));
  return matchStarred(segments, names, (segment) => segment === "**", fits);
}

function matchTokens(list: readonly Token[], chars: readonly string[]): boolean {
  return matchStarred(list, chars, (token) => token.kind === "many", matchesOne);
}

function matchesOne(token: Token, char: string): boolean {
  if (token.kind === "char") return token.char === char;
  if (token.kind === "one") return true;
  if (token.kind === "many") return false;
  const code = char.codePointAt(0) ?? 0;
  return token.ranges.some(([from, to]) => code >= from && code <= to) !== token.isNegated;
}

function matchStarred<P, I>(
  pattern: readonly P[],
  items: readonly I[],
  isStar: (part: P) => boolean,
  fits: (part: P, item: I) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let star = -1;
  let resume = 0;
  while (item < items.length) {
    const current = pattern[part];
    if (part < pattern.length && isStar(current as P)) {
      star = part;
      resume = item;
      part += 1;
    } else if (part < pattern.length && fits(current as P, items[item] as I)) {
      part += 1;
      item += 1;
    } else if (star !== -1) {
      resume += 1;
      item = resume;
      part = star + 1;
    } else return false;
  }
  return pattern.slice(part).every(isStar);
}
