// The sessions with a bug in them: the true source, changed and bundled as the build does it. It lies inside
// node_modules, because a bundle elsewhere would not find its packages.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Bug, Edit } from "./bugs.ts";
import type { Sessions } from "./world.ts";

const ROOT = join(import.meta.dirname, "../..");

export async function loadMutant({ edits }: Pick<Bug, "edits">): Promise<Sessions> {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "blemees-bug-"));
  const changed = applyEdits(edits);
  const plugin: Plugin = {
    name: "bug",
    setup({ onLoad }) {
      onLoad({ filter: /src\/sessions\/[^/]+\.ts$/ }, ({ path }) => {
        const contents = changed.get(basename(path));
        return contents === undefined ? undefined : { contents, loader: "ts" };
      });
    },
  };
  const outfile = join(dir, "sessions.mjs");
  try {
    await build({
      entryPoints: [join(ROOT, "src/sessions/index.ts")],
      ...{ bundle: true, platform: "node", format: "esm", target: "node20", packages: "external" },
      ...{ plugins: [plugin], outfile, logLevel: "silent" },
    });
    return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as Sessions;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The changed sources by file name. */
export function applyEdits(edits: readonly Edit[]): Map<string, string> {
  const changed = new Map<string, string>();
  for (const { file, from, to } of edits) {
    const text = changed.get(file) ?? readFileSync(join(ROOT, "src/sessions", file), "utf8");
    const found = text.split(from).length - 1;
    if (found !== 1) throw new Error(`src/sessions/${file} has ${found} times, not once: ${from}`);
    changed.set(
      file,
      text.replace(from, () => to),
    );
  }
  return changed;
}
