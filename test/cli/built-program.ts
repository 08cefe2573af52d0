// A program as users run it: bundled like the real one, in its own process.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class BuiltProgram {
  /** What is in the bundle. */
  readonly modules: readonly string[];
  readonly directory: string;
  readonly #file: string;

  constructor(directory: string, file: string, modules: readonly string[]) {
    this.directory = directory;
    this.#file = file;
    this.modules = modules;
  }

  static async build(name = "blemeesctl"): Promise<BuiltProgram> {
    const directory = mkdtempSync(join(tmpdir(), `${name}-`));
    const entryPoint = `src/bin/${name}.ts`;
    const { metafile } = await build({
      entryPoints: [entryPoint],
      outdir: directory,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      metafile: true,
    });
    return new BuiltProgram(directory, join(directory, `${name}.mjs`), startedModules(metafile, entryPoint));
  }

  run(socket: string, args: string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
    return new Promise((resolve) => {
      const child = this.start(socket, args, env);
      const ran: Ran = { code: null, stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => {
        ran.stdout += chunk;
      });
      child.stderr.on("data", (chunk) => {
        ran.stderr += chunk;
      });
      child.on("close", (code) => resolve({ ...ran, code }));
      child.stdin.end(input);
    });
  }

  /** For a test that ends it, or reads while it runs. */
  start(socket: string, args: string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [this.#file, ...args], {
      env: { PATH: process.env["PATH"], HOME: this.directory, BLEMEESD_SOCKET: socket, ...env },
    });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** What is read at every start: the program's own file and its static imports, not what it loads on demand. */
function startedModules({ outputs }: Metafile, entryPoint: string): string[] {
  const [first] = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint) ?? [];
  const files = new Set(first === undefined ? [] : [first]);
  for (const file of files) {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      // The program itself loads its parts with import(), after the compile cache is on.
      const isLoaded = kind === "import-statement" || file === first;
      if (isLoaded && Object.hasOwn(outputs, path)) files.add(path);
    }
  }
  const inputs = [...files].flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
}
