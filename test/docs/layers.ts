// The layer table of docs/architecture.md, and what breaks it.
import { importsOf, type Source } from "./sources.ts";

interface Layer {
  name: string;
  /** Layers, and single files such as `backends/types.ts`. */
  may: Set<string>;
  /** `all but …`: everything else is allowed. */
  allBut?: Set<string>;
  /** Its folders do not import each other. */
  isApart: boolean;
  /** By folder: `cli/demian` also runtime. */
  also: Map<string, Set<string>>;
}

/** Rows `| \`name\` | holds | may import |` below the heading "Layers". */
export function readLayers(page: string): Map<string, Layer> {
  const section = page.split(/^## Layers$/m)[1]?.split(/^## /m)[0] ?? "";
  const rows = [...section.matchAll(/^\| `([\w/.]+)` \| [^|]+ \| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, name = "", rule = ""]) => [name, readRule(name, rule)]));
}

function readRule(name: string, rule: string): Layer {
  const [main = "", ...clauses] = rule.split(";");
  const isApart = main.includes("never a sibling");
  const words = main.replace(/\(.*?\)/g, "").trim();
  const also = new Map(
    clauses.map((clause) => {
      const [, folder = "", names = ""] = /`([\w/]+)` also (.+)/.exec(clause) ?? [];
      return [folder, listOf(names)] as const;
    }),
  );
  if (words.startsWith("nothing")) return { name, may: new Set(), isApart, also };
  if (words.startsWith("all but ")) {
    return { name, may: new Set(), allBut: listOf(words.slice("all but ".length)), isApart, also };
  }
  return { name, may: listOf(words), isApart, also };
}

function listOf(text: string): Set<string> {
  return new Set(
    text
      .split(",")
      .map((word) => word.replaceAll("`", "").trim())
      .filter(Boolean),
  );
}

/** One sentence per broken rule. */
export function findLayerFaults(sources: readonly Source[], layers: ReadonlyMap<string, Layer>): string[] {
  return sources.flatMap((source) => {
    const from = layerOf(source.path);
    const layer = layers.get(from);
    if (layer === undefined) return [`${source.path}: the layer table has no row for ${from}`];
    return importsOf(source)
      .filter(({ isOurs }) => isOurs)
      .filter(({ target }) => !isAllowed(layer, source.path, target))
      .map(({ target }) => `${source.path} may not import ${target}`);
  });
}

function isAllowed(layer: Layer, path: string, target: string): boolean {
  const to = layerOf(target);
  const file = target.replace(/^src\//, "");
  if (to === layer.name) return !layer.isApart || !areSiblings(path, target);
  if (layer.allBut !== undefined) return !layer.allBut.has(to);
  if (layer.may.has(to) || layer.may.has(file)) return true;
  const also = [...layer.also].filter(([folder]) => path.startsWith(`src/${folder}/`));
  return also.some(([, names]) => names.has(to) || names.has(file));
}

/** In different folders of the same layer; files directly in it belong to all of them. */
function areSiblings(path: string, target: string): boolean {
  const [a, b] = [folderIn(path), folderIn(target)];
  return a !== undefined && b !== undefined && a !== b;
}

function folderIn(path: string): string | undefined {
  const parts = path.split("/");
  return parts.length > 3 ? parts[2] : undefined;
}

/** `src/base/ring.ts` → `base`; `src/version.ts` → `version.ts`. */
function layerOf(path: string): string {
  return path.split("/")[1] ?? "";
}
