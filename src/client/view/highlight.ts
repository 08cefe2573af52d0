// Colours for code, as data: `lowlight` finds out what each word is, the faces choose how that looks. Pure; what it
// gives has exactly the characters that it was given.
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

/** `scope`: what it is ("keyword", "string", "comment", …); empty for the rest. */
export interface Span {
  text: string;
  scope: string;
}

/** Longer code is not worth the time; it is shown plain. */
const MAX_LENGTH = 20_000;
/** Nor are longer lines or runs of empty ones: some grammars take the square of what does not end. */
const MAX_LINE = 1_000;
const EMPTY_LINES = "\n".repeat(300);

/** Endings of files whose language has another name. */
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

/** The lines of the code, each in spans. An unknown language is plain. */
export function highlight(code: string, lang: string): Span[][] {
  if (code.length > MAX_LENGTH || !isLanguage(lang) || hasNoEnd(code)) return plainLines(code);
  try {
    const lines: Span[][] = [[]];
    collect(lowlight().highlight(nameOf(lang), code), "", lines);
    return lines;
  } catch {
    // A grammar that fails on odd input must not take the screen with it.
    return plainLines(code);
  }
}

export function isLanguage(lang: string): boolean {
  return lang !== "" && lowlight().registered(nameOf(lang));
}

/** The language of a file by the ending of its name; empty when it is not known. */
export function languageOf(path: string): string {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1] ?? "";
  return isLanguage(ending) ? nameOf(ending) : "";
}

function nameOf(lang: string): string {
  const name = lang.toLowerCase();
  return Object.hasOwn(ENDINGS, name) ? (ENDINGS[name] ?? name) : name;
}

let engine: ReturnType<typeof createLowlight> | undefined;

/** Made when first used: reading seventeen grammars takes a few milliseconds. */
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

function hasNoEnd(code: string): boolean {
  if (code.includes(EMPTY_LINES)) return true;
  for (let at = 0; at < code.length; ) {
    const newline = code.indexOf("\n", at);
    const end = newline === -1 ? code.length : newline;
    if (end - at > MAX_LINE) return true;
    at = end + 1;
  }
  return false;
}

function plainLines(code: string): Span[][] {
  return code.split("\n").map((text) => [{ text, scope: "" }]);
}

/** What is needed of lowlight's tree. */
interface Node {
  type: string;
  value?: string;
  children?: readonly Node[];
  properties?: { className?: unknown };
}

function collect(node: Node, scope: string, lines: Span[][]): void {
  if (node.type === "text") {
    for (const [at, text] of (node.value ?? "").split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ text, scope });
    }
    return;
  }
  const inner = scopeOf(node.properties?.className) ?? scope;
  for (const child of node.children ?? []) collect(child, inner, lines);
}

function scopeOf(names: unknown): string | undefined {
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  return typeof first === "string" ? first.replace(/^hljs-/, "") : undefined;
}
