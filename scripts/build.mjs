// Builds dist/: one bundle a program (start-up matters), the worker threads, the client library with its types, and the
// dashboard (build-web.mjs).
//   node scripts/build.mjs [--quiet]
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { SCREEN_ALIAS } from "./bundling.mjs";

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
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  // React chooses its build by NODE_ENV; that of developers is slow and talks.
  define: { BLEMEES_VERSION: JSON.stringify(version), "process.env.NODE_ENV": '"production"' },
  // Native code and programs cannot be bundled; the rest of what we use can.
  external: ["koffi", "@photostructure/sqlite", "@vscode/ripgrep"],
  alias: SCREEN_ALIAS,
};
// CommonJS packages inside an ES module bundle call require().
const withRequire = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

rmSync(join(root, "dist"), { recursive: true, force: true });
await Promise.all([
  build({
    ...common,
    entryPoints: Object.fromEntries(
      ["blemees", "blemeesctl", "sm"].map((name) => [name, `src/bin/${name}.ts`]),
    ),
    banner: withRequire,
    splitting: true,
    chunkNames: "cli/[name]-[hash]",
  }),
  // What the daemon imports only when it is needed (HTTP) is a file of its own, so that a start does not read it.
  build({
    ...common,
    entryPoints: { blemeesd: "src/bin/blemeesd.ts" },
    banner: withRequire,
    splitting: true,
    chunkNames: "daemon/[name]-[hash]",
  }),
  // The same for demian: an editor that starts `demian acp` waits, and must not read a terminal's or a vendor's code.
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
for (const name of PROGRAMS) chmodSync(join(root, "dist", `${name}.js`), 0o755);
setDaemonFlags(join(root, "dist/blemeesd.js"));
writeAgentTools(join(root, "dist/agent-tools"));
writeTypes();
await buildWeb(join(root, "dist/web"), { version });
if (!isQuiet) console.log(`built dist/ in ${Date.now() - startedMs} ms`);

/**
 * The daemon runs with a small young generation: 30 MB less after a busy hour, at the same speed. V8 takes that only
 * on the command line, so the file is a shell script that runs itself with Node, and a program to Node.
 */
function setDaemonFlags(file) {
  const [, ...program] = readFileSync(file, "utf8").split("\n");
  const start = '":" //# ; exec /usr/bin/env node --max-semi-space-size=4 "$0" "$@"';
  writeFileSync(file, ["#!/bin/sh", start, ...program].join("\n"));
}

/** `sm` under its own name, for the PATH of agents (src/daemon/agent-tools.ts). */
function writeAgentTools(directory) {
  mkdirSync(directory);
  const script = ["#!/bin/sh", 'exec /usr/bin/env node "$(dirname "$0")/../sm.js" "$@"', ""].join("\n");
  writeFileSync(join(directory, "sm"), script, { mode: 0o755 });
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
  // Declarations keep the `.ts` of our imports; readers of a package expect `.js`.
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
