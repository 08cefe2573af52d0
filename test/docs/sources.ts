// The source files for the rules: path, text, and the imports of each file.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

export interface Source {
  /** From the project's root, with `/`: `src/base/ring.ts`. */
  path: string;
  text: string;
}

export interface Import {
  /** A path from the root for our own files, the bare name for everything else. */
  target: string;
  isOurs: boolean;
  /** `import type`: removed when the program runs. */
  isTypeOnly: boolean;
}

const FROM = /^(import|export)(\s+type)?\b[^;"']*?\bfrom\s+"([^"]+)"/gm;
const BARE = /^import\s+"([^"]+)"/gm;
const DYNAMIC = /(?<!typeof )\bimport\("([^"]+)"\)/g;

export function readSources(root: string, folder: string, endings: readonly string[]): Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return readSources(root, path, endings);
      if (!endings.some((ending) => entry.name.endsWith(ending))) return [];
      return [{ path, text: readFileSync(join(root, path), "utf8") }];
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function importsOf({ path, text }: Source): Import[] {
  const found = [
    ...[...text.matchAll(FROM)].map((match) => ({
      name: match[3] ?? "",
      isTypeOnly: match[2] !== undefined,
    })),
    ...[...text.matchAll(BARE), ...text.matchAll(DYNAMIC)].map((match) => {
      return { name: match[1] ?? "", isTypeOnly: false };
    }),
  ];
  return found.map(({ name, isTypeOnly }) => {
    const isOurs = name.startsWith(".");
    const target = isOurs ? posix.join(posix.dirname(path), name) : name;
    return { target, isOurs, isTypeOnly };
  });
}

/** Every cycle of imports that exist at run time, as the files on it. */
export function findCycles(sources: readonly Source[]): string[][] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source)
        .filter(({ isOurs, isTypeOnly }) => isOurs && !isTypeOnly)
        .map(({ target }) => target),
    ]),
  );
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at !== -1) {
      cycles.push([...trail.slice(at), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}

/** The file itself and everything it loads, directly or not. */
export function reachableFrom(start: string, sources: readonly Source[]): Source[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const found = new Map<string, Source>();
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || found.has(path)) return;
    found.set(path, source);
    for (const { target, isOurs, isTypeOnly } of importsOf(source)) if (isOurs && !isTypeOnly) visit(target);
  };
  visit(start);
  return [...found.values()];
}
