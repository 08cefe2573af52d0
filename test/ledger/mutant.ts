// The sessions layer with a seeded bug: the real source, changed and bundled as in the build. It is inside
// node_modules, because a bundle elsewhere would not find its packages.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Bug } from "./bugs.ts";
import type { Sessions } from "./world.ts";

const ROOT = join(import.meta.dirname, "../..");
const SESSIONS = join(ROOT, "src/sessions");

export function loadMutant(bug: Pick<Bug, "lines">): Promise<Sessions> {
  return loadChanged<Sessions>(bug, ["index.ts"]);
}

/** `entries`: the files of src/sessions whose exports are needed. */
export async function loadChanged<T>({ lines }: Pick<Bug, "lines">, entries: string[]): Promise<T> {
  const changed = replaceLines(lines);
  const plugin: Plugin = {
    name: "bug",
    setup({ onLoad }) {
      onLoad({ filter: /src\/sessions\/.+\.ts$/ }, ({ path }) => {
        const contents = changed.get(path);
        return contents === undefined ? undefined : { contents, loader: "ts" };
      });
    },
  };
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "blemees-bug-"));
  const outfile = join(dir, "sessions.mjs");
  try {
    await build({
      stdin: {
        contents: entries.map((file) => `export * from "./${file}";`).join("\n"),
        resolveDir: SESSIONS,
      },
      ...{ bundle: true, platform: "node", format: "esm", target: "node20", packages: "external" },
      ...{ plugins: [plugin], outfile, logLevel: "silent" },
    });
    return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as T;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The changed sources by path. Each mark must be on exactly one line. */
export function replaceLines(lines: Record<string, string>): Map<string, string> {
  const files = readdirSync(SESSIONS, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const sources = new Map(
    files.map((file) => [join(SESSIONS, file), readFileSync(join(SESSIONS, file), "utf8")]),
  );
  const changed = new Map<string, string>();
  for (const [name, line] of Object.entries(lines)) {
    const marked = new RegExp(`^.* // mutation: ${name}$`, "gm");
    const found = [...sources].flatMap(([path, text]) => [...text.matchAll(marked)].map(() => path));
    const [path = ""] = found;
    if (found.length !== 1)
      throw new Error(`"// mutation: ${name}" is in src/sessions ${found.length} times, not once`);
    changed.set(
      path,
      (changed.get(path) ?? sources.get(path) ?? "").replace(marked, () => line),
    );
  }
  return changed;
}
