// The bundle of a worker thread, built as in the build. It is inside node_modules, because a bundle in /tmp would not
// find the SQLite engine.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

export interface Bundle {
  url: URL;
  remove(): void;
}

export async function bundleWorker(entry = "src/store/worker.ts"): Promise<Bundle> {
  const cache = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "blemees-worker-"));
  const outfile = join(dir, "worker.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "../..", entry)],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    outfile,
  });
  return { url: pathToFileURL(outfile), remove: () => rmSync(dir, { recursive: true, force: true }) };
}
