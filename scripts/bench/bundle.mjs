// Makes a module of the sources importable here, for what is measured without a daemon.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "../..");

/**
 * @param {import("./workbench.mjs").Workbench} bench
 * @param {string[]} files below src/
 */
export async function bundle(bench, files) {
  const directory = bench.makeDirectory();
  const outfile = join(directory, "bundle.mjs");
  // The SQLite engine is required at run time.
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  await build({
    stdin: {
      contents: files.map((file) => `export * from "./${file}";`).join("\n"),
      resolveDir: join(ROOT, "src"),
    },
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", outfile, logLevel: "silent" },
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
  });
  return import(pathToFileURL(outfile).href);
}
