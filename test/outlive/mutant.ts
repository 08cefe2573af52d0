// The daemon with a seeded bug, as a program: the real source, changed and bundled as in the build. It is inside
// node_modules, because a bundle elsewhere would not find its packages.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { replaceLines } from "../ledger/mutant.ts";
import { ROOT } from "../support/root.ts";

export interface Mutant {
  program: string;
  close(): void;
}

/** `lines`: the replacement of each line that is marked in src/sessions, by the name of the mark. */
export async function buildMutant(lines: Record<string, string>): Promise<Mutant> {
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
  const outdir = mkdtempSync(join(cache, "blemees-bug-"));
  // Everything else is next to it, as in dist/: workers, demian, the dashboard.
  for (const name of readdirSync(join(ROOT, "dist"))) {
    if (!["blemeesd.js", "code", "package.json"].includes(name))
      symlinkSync(join(ROOT, "dist", name), join(outdir, name));
  }
  await build({
    entryPoints: { blemeesd: join(ROOT, "src/bin/blemeesd.ts") },
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", splitting: true, outdir },
    ...{ plugins: [plugin], packages: "external", logLevel: "silent" },
    define: { BLEMEES_VERSION: '"0.0.0"' },
  });
  return {
    program: join(outdir, "blemeesd.js"),
    close: () => rmSync(outdir, { recursive: true, force: true }),
  };
}
