// Builds the web dashboard: turns web/ into one folder of files with a hash in their names, and index.html, which loads
// them.
//   node scripts/build-web.mjs --out DIR [--quiet]
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Their names in web/index.html; the built page has the names with the hash. */
const ENTRIES = { "main.js": "web/src/main.ts", "main.css": "web/style/main.css" };

export async function bundleWeb(out, { version = packageVersion() } = {}) {
  return await build({
    absWorkingDir: root,
    entryPoints: Object.values(ENTRIES),
    bundle: true,
    write: false,
    metafile: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    splitting: true,
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    outdir: out,
    // All in one folder: the daemon serves names, not paths.
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    tsconfig: join(root, "web/tsconfig.json"),
    define: { BLEMEES_VERSION: JSON.stringify(version) },
    plugins: [keepLexer()],
  });
}

/** Of `marked` the page uses the lexer only, but its default instance would keep the parser and renderer in the bundle. */
function keepLexer() {
  return {
    name: "keep-lexer",
    setup(build) {
      build.onLoad({ filter: /marked\.esm\.js$/ }, ({ path }) => {
        const source = readFileSync(path, "utf8");
        const lexer = /\bexport\s*\{[^}]*?([\w$]+) as Lexer\b/.exec(source)?.[1];
        const end = /;var ([\w$]+)=new [\w$]+;function [\w$]+\([\w$]+,[\w$]+\)\{return \1\.parse\(/.exec(
          source,
        );
        if (lexer === undefined || end === null)
          throw new Error(`${path} has changed: adapt keepLexer in scripts/build-web.mjs`);
        return { contents: `${source.slice(0, end.index)};export{${lexer} as Lexer};` };
      });
    },
  };
}

/** Empties `out` and writes the bundle there, index.html last. Returns the size of each file. */
export function writeWeb(out, { metafile, outputFiles }) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(out, basename(path)), contents);
  const statics = join(root, "web/static");
  if (existsSync(statics)) {
    for (const name of readdirSync(statics)) copyFileSync(join(statics, name), join(out, name));
  }
  writeFileSync(join(out, "index.html"), pageWith(listNames(metafile)));
  return measureFiles(out);
}

function packageVersion() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}

/** `main.js` → `main-4F2K….js` */
function listNames({ outputs }) {
  return new Map(
    Object.entries(ENTRIES).map(([name, source]) => {
      const found = Object.entries(outputs).find(([, output]) => output.entryPoint === source);
      return [name, basename(found[0])];
    }),
  );
}

function pageWith(names) {
  let page = readFileSync(join(root, "web/index.html"), "utf8");
  for (const [name, built] of names) {
    if (!page.includes(`"/web/${name}"`)) throw new Error(`web/index.html does not name "/web/${name}"`);
    page = page.replaceAll(`"/web/${name}"`, `"/web/${built}"`);
  }
  return page;
}

function measureFiles(out) {
  return readdirSync(out).map((name) => {
    const bytes = readFileSync(join(out, name));
    return { name, bytes: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: "string" }, quiet: { type: "boolean" } } });
  if (values.out === undefined) {
    console.error("usage: node scripts/build-web.mjs --out DIR [--quiet]");
    process.exit(2);
  }
  const out = resolve(values.out);
  const sizes = writeWeb(out, await bundleWeb(out));
  if (!values.quiet) {
    for (const { name, bytes, gzip } of sizes) console.log(`${name}  ${bytes} bytes, ${gzip} gzip`);
    console.log(`total ${sizes.reduce((sum, { gzip }) => sum + gzip, 0)} bytes gzip`);
  }
}
