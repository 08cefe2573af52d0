// Builds a program of the tests with the screens in it, as the real programs are built.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export async function buildProgram(source: string, outdir: string): Promise<string> {
  await build({
    entryPoints: { program: fileURLToPath(new URL(source, import.meta.url)) },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "error",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
  return `${outdir}/program.mjs`;
}
