// Which modules a program reads before it loads anything on demand.
import { build, type Metafile } from "esbuild";
import { ROOT } from "../support/root.ts";

/** The modules that a program reads at every start: its own file and its static imports, not what it loads on demand. */
export async function readModulesAtStart(name: string): Promise<string[]> {
  const entryPoint = `src/bin/${name}.ts`;
  const { outputs } = await bundleParts(entryPoint);
  const first = Object.entries(outputs).flatMap(([file, output]) =>
    output.entryPoint === entryPoint ? file : [],
  );
  // The program itself loads its parts with import(), after the compile cache is on.
  return listModules(outputs, first, (kind, file) => kind === "import-statement" || first.includes(file));
}

/** What is read with this source file of a bundle: its own part and that part's static imports. */
export function findStaticModules({ outputs }: Metafile, source: string): string[] {
  const first = Object.entries(outputs).flatMap(([file, { entryPoint, inputs }]) =>
    entryPoint === source || Object.hasOwn(inputs, source) ? file : [],
  );
  return listModules(outputs, first, (kind) => kind === "import-statement");
}

/** The bundle of a program with one file for each part that is loaded on demand. Writes nothing. */
export async function bundleParts(entryPoint: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    outdir: "dist",
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    external: ["koffi", "@vscode/ripgrep"],
    metafile: true,
  });
  return metafile;
}

function listModules(
  outputs: Metafile["outputs"],
  first: readonly string[],
  isRead: (kind: string, file: string) => boolean,
): string[] {
  const files = new Set(first);
  for (const file of files) {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      if (isRead(kind, file) && Object.hasOwn(outputs, path)) files.add(path);
    }
  }
  const inputs = [...files].flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
  return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
}
