// Builds dist/: a bundle per program (for a quick start), the worker threads, the libraries with their types, the
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

const PROGRAMS = [
  "blemees",
  "blemees-claude",
  "blemeesd",
  "blemeesctl",
  "sm",
  "demian",
  "demian-cli",
  "demian-plain",
];
/**
 * What the programs load with import(), each in one file, whose compiled code is kept (src/base/code-cache.ts). The last three
 * are loaded when they are needed: for sessions with MCP servers, for programs that use our tools, for a web page.
 */
const CODE = {
  blemeesd: "src/daemon/main.ts",
  blemees: "src/cli/blemees/main.ts",
  wire: "src/cli/wire/main.ts",
  demian: "src/cli/demian/program.ts",
  mcp: "src/runtime/mcp/sdk.ts",
  "mcp-server": "src/base/mcp-server.ts",
  html: "src/runtime/web/html.ts",
};
const WORKERS = { "store-worker": "src/store/worker.ts", "observe-worker": "src/observe/worker.ts" };
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  outdir: "dist",
  metafile: true,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  define: {
    BLEMEES_VERSION: JSON.stringify(version),
    // Packages with native code, which would be used if they were installed.
    "process.env.WS_NO_BUFFER_UTIL": '"1"',
    "process.env.WS_NO_UTF_8_VALIDATE": '"1"',
  },
  alias: {
    "@modelcontextprotocol/client/_shims": "./src/base/no-schema-validator.ts",
    "@modelcontextprotocol/server/_shims": "./src/base/no-schema-validator.ts",
  },
  // Native code and executables cannot be bundled. These are `dependencies`; bundled packages are `devDependencies`.
  external: ["koffi", "@photostructure/sqlite", "@vscode/ripgrep"],
};
// CommonJS: its loader starts faster, and only scripts can be kept compiled.
const commonJs = {
  ...common,
  format: "cjs",
  define: { ...common.define, "import.meta.url": "__url" },
  banner: { js: '"use strict"; const __url = require("node:url").pathToFileURL(__filename).href;' },
};

rmSync(join(root, "dist"), { recursive: true, force: true });
const bundles = await Promise.all([
  build({
    ...commonJs,
    entryPoints: Object.fromEntries(PROGRAMS.map((name) => [name, `src/bin/${name}.ts`])),
    plugins: [loadCode("/code/")],
  }),
  build({
    ...commonJs,
    entryPoints: CODE,
    outdir: "dist/code",
    banner: {
      js: `(function (exports, require, module, __filename, __dirname, __import) { ${commonJs.banner.js}`,
    },
    footer: { js: "})" },
    write: false,
    plugins: [loadCode("/", ["mcp", "mcp-server", "html"])],
  }).then(deferBuiltins),
  build({ ...commonJs, entryPoints: WORKERS }),
  build({
    ...common,
    format: "esm",
    entryPoints: { client: "src/client/index.ts" },
    outExtension: { ".js": ".mjs" },
    sourcemap: true,
  }),
  build({
    ...common,
    format: "esm",
    entryPoints: { demian: "src/runtime/index.ts" },
    outExtension: { ".js": ".mjs" },
    // Bundled CommonJS packages need it for Node's own modules.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  }),
]);
writeFileSync(join(root, "dist/package.json"), '{ "type": "commonjs" }\n');
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
 * Loads Node's own modules with their first use, and other code with the import() of the program, because compiled code that
 * was kept has none of its own in Node 20. Writes the files.
 */
function deferBuiltins(built) {
  const defer = "const __defer = (name) => { let loaded; return () => (loaded ??= require(name)); };";
  mkdirSync(join(root, "dist/code"), { recursive: true });
  for (const { path, text } of built.outputFiles) {
    const deferred = new Set();
    const code = text.replace(/\b(import_\w+)=require\(("node:[\w/]+")\)/g, (_, name, module) => {
      deferred.add(name);
      return `${name}=__defer(${module})`;
    });
    const used = code.replace(/\b(import_\w+)\./g, (all, name) =>
      deferred.has(name) ? `(${name}()).` : all,
    );
    const imported = used.replace(/\bimport\(/g, "__import(");
    writeFileSync(path, imported.replace('"use strict";', `"use strict"; ${defer}`));
  }
  return built;
}

/** Makes a bundle load code of CODE from `folder`, relative to itself, instead of containing it. */
function loadCode(folder, chosen = Object.keys(CODE)) {
  const names = new Map(chosen.map((name) => [join(root, CODE[name]), name]));
  return {
    name: "load-code",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
        const name = kind === "dynamic-import" ? names.get(join(resolveDir, path)) : undefined;
        return name === undefined ? undefined : { path: name, namespace: "code" };
      });
      onLoad({ filter: /^/, namespace: "code" }, ({ path: name }) => ({
        resolveDir: root,
        contents: `
          const { loadBundle } = require("./src/base/code-cache.ts");
          module.exports = loadBundle(__dirname + "${folder}${name}.js", require, process.env);`,
      }));
    },
  };
}

/**
 * The daemon runs with a small young generation: 30 MB less after a busy hour, at the same speed. It collects garbage
 * itself after a burst of work (src/base/memory-return.ts). V8 accepts that only on the command line, so the file is both a shell script, which runs itself with Node, and a JavaScript program.
 */
function setDaemonFlags(file) {
  const [, ...program] = readFileSync(file, "utf8").split("\n");
  const start = '":" //# ; exec /usr/bin/env node --max-semi-space-size=4 --expose-gc "$0" "$@"';
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
  writeFileSync(join(root, "dist/types/package.json"), '{ "type": "module" }\n');
}

function filesBelow(directory) {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
