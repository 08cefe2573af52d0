// YAML as plain data, with the line of every value. Imported only when there is something to parse: by itself, because the
// bundle gives names of a CommonJS package to static imports alone.
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from "yaml";
import { LineFault } from "./line-fault.ts";

const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** It may quote what stands there. */
const MAX_MESSAGE = 200;

export interface Composed {
  value: unknown;
  /** Of a key or an item; of what should hold it where it is missing, which for the whole is the first line. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** `firstLine`: where it begins in its file. Throws `LineFault`. */
export function composeYaml(source: string, firstLine: number): Composed {
  const counter = new LineCounter();
  const lineAt = (offset = 0) => Math.max(1, counter.linePos(offset).line) + firstLine - 1;
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
  if (document === undefined) throw new LineFault(firstLine, "the front matter is empty");
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined)
    throw new LineFault(
      lineAt(fault.pos[0]),
      `this is no YAML that is taken here: ${fault.message.slice(0, MAX_MESSAGE)}`,
    );
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
