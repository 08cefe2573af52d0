// The YAML at the beginning of a Markdown file, between two lines of `---`: plain data with the line of every value. The
// file may come from anybody, so what only a trick needs (anchors, tags, nesting without end) is refused.
import { isObject, type JsonObject } from "../../base/json.ts";

export interface FrontMatter {
  value: JsonObject;
  /** What stands behind it. */
  body: string;
  bodyLine: number;
  /** Of a key or an item; of what should hold it where it is missing, which for the whole is the first line. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Something is wrong in a file; lines count from 1. */
export class LineFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Much more than an agent needs: the parser takes the square of lines, brackets and keys. */
const MAX_CHARACTERS = 16 * 1024;
const MAX_LINES = 400;
/** Deep nesting ends the process (yaml 2.9 goes down by recursion, and V8 gives up in a regular expression). */
const MAX_BRACKETS = 200;
const MAX_INDENT = 100;
const MAX_MARKS_IN_LINE = 64;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);
/** Of the YAML. */
const FIRST_LINE = 2;
const FENCE = /^---[ \t]*$/;

/** Throws `LineFault`. */
export async function parseFrontMatter(text: string): Promise<FrontMatter> {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n/);
  if (!FENCE.test(lines[0] ?? ""))
    throw new LineFault(1, 'it does not begin with front matter: a line "---", YAML, and another line "---"');
  const end = lines.findIndex((line, at) => at > 0 && FENCE.test(line));
  if (end === -1) throw new LineFault(1, 'the front matter does not end: a second line "---" is missing');
  const source = lines.slice(1, end);
  checkShape(source);
  const { value, lineOf } = await compose(source.join("\n"));
  if (value !== null && !isObject(value))
    throw new LineFault(
      FIRST_LINE,
      "the front matter is a list or a text; expected keys and values, as in `name: reviewer`",
    );
  return {
    value: value ?? {},
    body: lines.slice(end + 1).join("\n"),
    bodyLine: end + 2,
    lineOf,
  };
}

function checkShape(lines: readonly string[]): void {
  let characters = 0;
  let brackets = 0;
  for (const [at, line] of lines.entries()) {
    characters += line.length + 1;
    brackets += line.match(/[[\]{}]/g)?.length ?? 0;
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    const marks = line.match(/[-?:](?=\s|$)/g)?.length ?? 0;
    const fault =
      characters > MAX_CHARACTERS
        ? `the front matter is longer than ${MAX_CHARACTERS / 1024} KiB`
        : at >= MAX_LINES
          ? `the front matter has more than ${MAX_LINES} lines`
          : brackets > MAX_BRACKETS
            ? `there are more than ${MAX_BRACKETS} brackets`
            : indent > MAX_INDENT || marks > MAX_MARKS_IN_LINE
              ? "it is nested too deeply"
              : undefined;
    if (fault !== undefined) throw new LineFault(at + FIRST_LINE, fault);
  }
}

async function compose(source: string): Promise<Pick<FrontMatter, "lineOf"> & { value: unknown }> {
  const { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } = await import(
    "yaml"
  );
  const counter = new LineCounter();
  const lineAt = (offset = 0) => Math.max(1, counter.linePos(offset).line) + FIRST_LINE - 1;
  const documents = parseAllDocuments(source, {
    lineCounter: counter,
    schema: "core",
    stringKeys: true,
    uniqueKeys: true,
    merge: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const [document, second] = "empty" in documents ? [] : documents;
  if (document === undefined) throw new LineFault(FIRST_LINE, "the front matter is empty");
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined)
    throw new LineFault(lineAt(fault.pos[0]), `this is no YAML that is taken here: ${fault.message}`);
  if (second !== undefined) throw new LineFault(lineAt(second.range[0]), "a second document begins here");
  visit(document, (place, node) => {
    if (!isNode(node)) return;
    const line = lineAt(node.range?.[0]);
    if (isAlias(node) || node.anchor !== undefined)
      throw new LineFault(line, "anchors and aliases are not taken; write it out");
    if (place === "key" && isScalar(node) && FORBIDDEN_KEYS.has(String(node.value)))
      throw new LineFault(line, `the key "${String(node.value)}" is not allowed`);
  });
  /** Where it stands and what it is: a key's place, so that a value that begins below it is found where it is named. */
  const childOf = (node: unknown, part: PropertyKey): { node: unknown; line: number } | undefined => {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      return isNode(pair?.key) ? { node: pair.value, line: lineAt(pair.key.range?.[0]) } : undefined;
    }
    const item = isSeq(node) ? node.items[Number(part)] : undefined;
    return isNode(item) ? { node: item, line: lineAt(item.range?.[0]) } : undefined;
  };
  const lineOf = (path: readonly PropertyKey[]) => {
    let at: { node: unknown; line: number } = { node: document.contents, line: 1 };
    for (const part of path) {
      const child = childOf(at.node, part);
      if (child === undefined) return at.line;
      at = child;
    }
    return at.line;
  };
  return { value: document.toJS({ maxAliasCount: 0 }), lineOf };
}
