// blemeesctl as people run it: bundled like the real one, in a process of its own.
import { spawn } from "node:child_process";
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
  readonly #directory: string;
  readonly #file: string;

  constructor(directory: string, file: string, modules: readonly string[]) {
    this.#directory = directory;
    this.#file = file;
    this.modules = modules;
  }

  static async build(): Promise<BuiltProgram> {
    const directory = mkdtempSync(join(tmpdir(), "blemeesctl-"));
    const outfile = join(directory, "blemeesctl.mjs");
    const entryPoints = ["src/bin/blemeesctl.ts"];
    const { metafile } = await build({
      entryPoints,
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      metafile: true,
    });
    return new BuiltProgram(directory, outfile, Object.keys(metafile.inputs));
  }

  run(socket: string, args: string[], input = ""): Promise<Ran> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [this.#file, ...args], {
        env: { PATH: process.env["PATH"], HOME: this.#directory, BLEMEESD_SOCKET: socket },
      });
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

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
