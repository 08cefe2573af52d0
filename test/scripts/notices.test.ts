// What is bundled into dist/ has its licence there; what is not bundled is installed with the package.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { ROOT } from "../support/root.ts";

const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const programs = readdirSync(join(ROOT, "src/bin")).map((name) => `src/bin/${name}`);
const workers = ["src/store/worker.ts", "src/observe/worker.ts"];

async function findInputs(platform: "node" | "browser", entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    platform,
    outdir: "out",
    bundle: true,
    // As in the build: splitting would keep packages that only unused code of the programs loads.
    splitting: platform === "browser",
    write: false,
    metafile: true,
    minifySyntax: true,
    format: "esm",
    define: { "process.env.NODE_ENV": '"production"' },
    external: ["koffi", "@photostructure/sqlite", "@vscode/ripgrep"],
    alias: {
      "@modelcontextprotocol/client/_shims": "./src/base/no-schema-validator.ts",
      "@modelcontextprotocol/server/_shims": "./src/base/no-schema-validator.ts",
    },
    ...(platform === "browser" ? { tsconfig: join(ROOT, "web/tsconfig.json") } : {}),
  });
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
}

test("the notices have every bundled package, with its version and licence", async () => {
  const notices = readFileSync(join(ROOT, "dist/THIRD-PARTY-NOTICES.txt"), "utf8").split(/^-{80}$/m);
  const inputs = [
    ...(await findInputs("node", [...programs, ...workers, "src/client/index.ts"])),
    ...(await findInputs("browser", ["web/src/main.ts", "web/style/main.css"])),
  ];
  const directories = inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const bundled = new Set(directories.filter((directory) => directory !== undefined));
  expect(bundled.size).toBeGreaterThan(10);
  for (const directory of bundled) {
    const manifest = JSON.parse(readFileSync(join(ROOT, directory, "package.json"), "utf8"));
    const head = `${manifest.name} ${manifest.version} (${manifest.license})`;
    const notice = notices.find((text) => text.trimStart().startsWith(head));
    expect(notice ?? "missing", head).toMatch(/copyright|permission|licen[cs]e/i);
  }
});

test("the built programs import only Node's modules and the dependencies of package.json", () => {
  const files = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
  const imported = files
    .filter((file) => file.endsWith(".js") && !file.startsWith("web/"))
    .flatMap((file) => [
      ...readFileSync(join(ROOT, "dist", file), "utf8").matchAll(
        /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\bcreateRequire\)\([^()]*\)\()\s*"([a-z@][\w@/:.-]*)"/g,
      ),
    ])
    .map(([, name = ""]) => name);
  const known = new Set([...Object.keys(dependencies), ...builtinModules]);
  expect(imported).toContain("@photostructure/sqlite");
  expect([...new Set(imported)].filter((name) => !name.startsWith("node:") && !known.has(name))).toEqual([]);
});
