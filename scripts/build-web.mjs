// Builds the web dashboard: web/ becomes one folder of files with their hash in the name, and the page that names them.
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
/** What web/index.html calls them; the built page has the names with the hash. */
const ENTRIES = { "main.js": "web/src/main.ts", "main.css": "web/style/main.css" };

/** The sizes of what was written, by name. `out` is emptied first. */
export async function buildWeb(out, { version = packageVersion() } = {}) {
  const { metafile, outputFiles } = await build({
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
    // All lie in one folder: the daemon serves names, not paths.
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    tsconfig: join(root, "web/tsconfig.json"),
    define: { BLEMEES_VERSION: JSON.stringify(version) },
  });
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(out, basename(path)), contents);
  const statics = join(root, "web/static");
  if (existsSync(statics)) {
    for (const name of readdirSync(statics)) copyFileSync(join(statics, name), join(out, name));
  }
  writeFileSync(join(out, "index.html"), pageWith(namesOf(metafile)));
  return sizesOf(out);
}

function packageVersion() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}

/** `main.js` → `main-4F2K….js` */
function namesOf({ outputs }) {
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

function sizesOf(out) {
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
  const sizes = await buildWeb(resolve(values.out));
  if (!values.quiet) {
    for (const { name, bytes, gzip } of sizes) console.log(`${name}  ${bytes} bytes, ${gzip} gzip`);
    console.log(`in all ${sizes.reduce((sum, { gzip }) => sum + gzip, 0)} bytes gzip`);
  }
}
