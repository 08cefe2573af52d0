// npm run docs: writes the generated files: schemas/, docs/errors.md, notices.md, config.md, cli.md, http.md and the
// tables in flows.md, ui.md and operations.md. With --check it writes nothing, and fails with the name of each file
// that differs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "blemees-docs-"));
try {
  const outfile = join(work, "generate.mjs");
  await build({
    entryPoints: [join(root, "scripts/docs/generate.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "warning",
    // CommonJS packages inside an ES module bundle call require().
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  const { writeDocs } = await import(pathToFileURL(outfile).href);
  process.exitCode = writeDocs(root, process.argv.includes("--check"));
} finally {
  rmSync(work, { recursive: true, force: true });
}
