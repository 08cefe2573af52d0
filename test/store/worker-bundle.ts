// The store thread's bundle, made as the build makes it. It lies inside node_modules, because a bundle in /tmp
// would not find the SQLite engine.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

export interface Bundle {
  url: URL;
  remove(): void;
}

export async function bundleWorker(): Promise<Bundle> {
  const cache = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "blemees-store-"));
  const outfile = join(dir, "store-worker.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "../../src/store/worker.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    outfile,
  });
  return { url: pathToFileURL(outfile), remove: () => rmSync(dir, { recursive: true, force: true }) };
}
