// YAML as plain data, with the line of every value. Its own module, imported dynamically only when needed: the bundler
// gives names of a CommonJS package to static imports alone.
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from "yaml";
import { LineFault } from "./line-fault.ts";

const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** May quote the text. */
const MAX_MESSAGE = 200;

export interface ComposedYaml {
  value: unknown;
  /** The line of a key or item; for a missing one, of its parent; for the whole, the first line. */
  findLine(path: readonly PropertyKey[]): number;
}

/** `firstLine`: where it starts in its file. Throws `LineFault`. */
export function composeYaml(source: string, firstLine: number): ComposedYaml {
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
      `unsupported or invalid YAML: ${fault.message.slice(0, MAX_MESSAGE)}`,
    );
  if (second !== undefined)
    throw new LineFault(lineAt(second.range[0]), "a second YAML document starts here");
  visit(document, (place, node) => {
    if (!isNode(node)) return;
    const line = lineAt(node.range?.[0]);
    if (isAlias(node) || node.anchor !== undefined)
      throw new LineFault(line, "anchors and aliases are not supported; write the value out");
    if (place === "key" && isScalar(node) && FORBIDDEN_KEYS.has(String(node.value)))
      throw new LineFault(line, `the key "${String(node.value)}" is not allowed`);
  });
  /** A child node and its key's position, so that a value on the next line is reported where it is named. */
  const findChild = (node: unknown, part: PropertyKey): { node: unknown; line: number } | undefined => {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      return isNode(pair?.key) ? { node: pair.value, line: lineAt(pair.key.range?.[0]) } : undefined;
    }
    const item = isSeq(node) ? node.items[Number(part)] : undefined;
    return isNode(item) ? { node: item, line: lineAt(item.range?.[0]) } : undefined;
  };
  const findLine = (path: readonly PropertyKey[]) => {
    let at: { node: unknown; line: number } = { node: document.contents, line: 1 };
    for (const part of path) {
      const child = findChild(at.node, part);
      if (child === undefined) return at.line;
      at = child;
    }
    return at.line;
  };
  return { value: document.toJS({ maxAliasCount: 0 }), findLine: findLine };
}
