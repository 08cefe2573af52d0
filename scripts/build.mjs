// Builds dist/: a bundle per program (for a quick start), the worker threads, the client library with its types, the
// dashboard (build-web.mjs) and the licences of bundled packages (notices.mjs).
//   node scripts/build.mjs [--quiet]
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleWeb, writeWeb } from "./build-web.mjs";
import { findBundledPackages, formatNotices } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const isQuiet = process.argv.includes("--quiet");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const startedMs = Date.now();

const PROGRAMS = ["blemees", "blemeesd", "blemeesctl", "sm", "demian", "demian-cli", "demian-plain"];
const DEMIAN = ["demian", "demian-cli", "demian-plain"];
const WORKERS = { "store-worker": "src/store/worker.ts", "observe-worker": "src/observe/worker.ts" };
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  outdir: "dist",
  metafile: true,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  define: { BLEMEES_VERSION: JSON.stringify(version) },
  // Native code and executables cannot be bundled. These are `dependencies`; bundled packages are `devDependencies`.
  external: ["koffi", "@photostructure/sqlite", "@vscode/ripgrep"],
};
// Bundled CommonJS packages call require().
const withRequire = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

rmSync(join(root, "dist"), { recursive: true, force: true });
const bundles = await Promise.all([
  build({
    ...common,
    entryPoints: Object.fromEntries(
      ["blemees", "blemeesctl", "sm"].map((name) => [name, `src/bin/${name}.ts`]),
    ),
    banner: withRequire,
    splitting: true,
    chunkNames: "cli/[name]-[hash]",
  }),
  // Split, so that startup does not read what is imported on demand (HTTP).
  build({
    ...common,
    entryPoints: { blemeesd: "src/bin/blemeesd.ts" },
    banner: withRequire,
    splitting: true,
    chunkNames: "daemon/[name]-[hash]",
  }),
  // Also split: `demian acp` must start fast, without reading the terminal UI or a vendor's SDK.
  build({
    ...common,
    entryPoints: Object.fromEntries(DEMIAN.map((name) => [name, `src/bin/${name}.ts`])),
    banner: withRequire,
    splitting: true,
    chunkNames: "demian/[name]-[hash]",
  }),
  build({ ...common, entryPoints: WORKERS, banner: withRequire }),
  build({ ...common, entryPoints: { client: "src/client/index.ts" }, sourcemap: true }),
]);
const web = join(root, "dist/web");
const webBundle = await bundleWeb(web, { version });
for (const name of PROGRAMS) chmodSync(join(root, "dist", `${name}.js`), 0o755);
setDaemonFlags(join(root, "dist/blemeesd.js"));
writeAgentTools(join(root, "dist/agent-tools"));
writeTypes();
writeNotices([...bundles, webBundle]);
writeWeb(web, webBundle);
if (!isQuiet) console.log(`built dist/ in ${Date.now() - startedMs} ms`);

/**
 * The daemon runs with a small young generation: 30 MB less after a busy hour, at the same speed. V8 accepts that only
 * on the command line, so the file is both a shell script, which runs itself with Node, and a JavaScript program.
 */
function setDaemonFlags(file) {
  const [, ...program] = readFileSync(file, "utf8").split("\n");
  const start = '":" //# ; exec /usr/bin/env node --max-semi-space-size=4 "$0" "$@"';
  writeFileSync(file, ["#!/bin/sh", start, ...program].join("\n"));
}

/** An executable `sm` for the PATH of agents (src/daemon/agent-tools.ts). */
function writeAgentTools(directory) {
  mkdirSync(directory);
  const script = ["#!/bin/sh", 'exec /usr/bin/env node "$(dirname "$0")/../sm.js" "$@"', ""].join("\n");
  writeFileSync(join(directory, "sm"), script, { mode: 0o755 });
}

/** Required by the licences of the packages that we bundle. */
function writeNotices(built) {
  const packages = findBundledPackages(built.map(({ metafile }) => metafile));
  writeFileSync(join(root, "dist/THIRD-PARTY-NOTICES.txt"), formatNotices(root, packages));
}

function writeTypes() {
  const tsc = spawnSync(
    process.execPath,
    [
      join(root, "node_modules/typescript/bin/tsc"),
      ...["-p", join(root, "scripts/types.tsconfig.json"), "--outDir", join(root, "dist/types")],
    ],
    { encoding: "utf8" },
  );
  if (tsc.status !== 0) {
    process.stderr.write(tsc.stdout + tsc.stderr);
    process.exit(1);
  }
  // Declarations keep the `.ts` of our imports; a published package needs `.js`.
  for (const file of filesBelow(join(root, "dist/types"))) {
    writeFileSync(file, readFileSync(file, "utf8").replace(/(from\s+"\.[^"]*)\.ts"/g, '$1.js"'));
  }
}

function filesBelow(directory) {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
