// Syntax highlighting as data, by `lowlight`; screens choose the colors. The output has exactly the input's characters.
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** `scope`: "keyword", "string", "comment", …, or empty. */
export interface CodeSpan {
  text: string;
  scope: string;
}

/** Longer code is not highlighted. */
const MAX_LENGTH = 20_000;
/** Nor are longer lines or runs of empty lines: some grammars take quadratic time. */
const MAX_LINE = 1_000;
const EMPTY_LINES = "\n".repeat(300);

/** File extensions that differ from the language name. */
const ENDINGS: Readonly<Record<string, string>> = {
  mjs: "javascript",
  cjs: "javascript",
  mts: "typescript",
  cts: "typescript",
  h: "c",
  cc: "cpp",
  hpp: "cpp",
  htm: "html",
  svg: "xml",
  cfg: "ini",
  conf: "ini",
  jsonl: "json",
  jsonc: "json",
  pyi: "python",
  bashrc: "bash",
};

/** Spans per line. Unknown languages are not highlighted. */
export function highlight(code: string, lang: string): CodeSpan[][] {
  if (code.length > MAX_LENGTH || !isLanguage(lang) || hasLongRun(code)) return plainLines(code);
  try {
    const lines: CodeSpan[][] = [[]];
    collect(lowlight().highlight(toLanguageName(lang), code), "", lines);
    return lines;
  } catch {
    // A failing grammar must not break the screen.
    return plainLines(code);
  }
}

export function isLanguage(lang: string): boolean {
  return lang !== "" && lowlight().registered(toLanguageName(lang));
}

/** By file extension; empty if unknown. */
export function findLanguage(path: string): string {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1] ?? "";
  return isLanguage(ending) ? toLanguageName(ending) : "";
}

function toLanguageName(lang: string): string {
  const name = lang.toLowerCase();
  return Object.hasOwn(ENDINGS, name) ? (ENDINGS[name] ?? name) : name;
}

let engine: ReturnType<typeof createLowlight> | undefined;

/** Created on first use: loading the grammars takes a few milliseconds. */
function lowlight(): ReturnType<typeof createLowlight> {
  engine ??= createLowlight({
    bash,
    c,
    cpp,
    css,
    diff,
    go,
    ini,
    java,
    javascript,
    json,
    markdown,
    python,
    rust,
    sql,
    typescript,
    xml,
    yaml,
  });
  return engine;
}

function hasLongRun(code: string): boolean {
  if (code.includes(EMPTY_LINES)) return true;
  for (let at = 0; at < code.length; ) {
    const newline = code.indexOf("\n", at);
    const end = newline === -1 ? code.length : newline;
    if (end - at > MAX_LINE) return true;
    at = end + 1;
  }
  return false;
}

function plainLines(code: string): CodeSpan[][] {
  return code.split("\n").map((text) => [{ text, scope: "" }]);
}

/** The part of lowlight's tree we use. */
interface Node {
  type: string;
  value?: string;
  children?: readonly Node[];
  properties?: { className?: unknown };
}

function collect(node: Node, scope: string, lines: CodeSpan[][]): void {
  if (node.type === "text") {
    for (const [at, text] of (node.value ?? "").split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ text, scope });
    }
    return;
  }
  const inner = readScope(node.properties?.className) ?? scope;
  for (const child of node.children ?? []) collect(child, inner, lines);
}

function readScope(names: unknown): string | undefined {
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  return typeof first === "string" ? first.replace(/^hljs-/, "") : undefined;
}
