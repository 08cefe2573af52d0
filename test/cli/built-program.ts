// A program as people run it: bundled like the real one, in a process of its own.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

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
    const outfile = join(directory, `${name}.mjs`);
    const entryPoints = [`src/bin/${name}.ts`];
    const { metafile } = await build({
      entryPoints,
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      metafile: true,
    });
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
    const modules = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
    return new BuiltProgram(directory, outfile, modules);
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
