// demian as people run it: built like the real one (heavy parts in files of their own), in a process of its own.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../support/daemon.ts";
import { Pty } from "./pty.ts";
import type { World } from "./world.ts";

export class BuiltDemian {
  readonly #world: World;
  readonly #file: string;

  private constructor(world: World) {
    this.#world = world;
    this.#file = join(world.directory, "dist/demian-plain.js");
  }

  static async build(world: World): Promise<BuiltDemian> {
    symlinkSync(join(ROOT, "node_modules"), join(world.directory, "node_modules"));
    await build({
      absWorkingDir: ROOT,
      entryPoints: { "demian-plain": "src/bin/demian-plain.ts" },
      outdir: join(world.directory, "dist"),
      bundle: true,
      platform: "node",
      format: "esm",
      splitting: true,
      external: ["koffi", "@vscode/ripgrep"],
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    });
    writeFileSync(join(world.directory, "dist/package.json"), '{"type":"module"}');
    return new BuiltDemian(world);
  }

  /** With pipes; stdin is left open. */
  start(...args: string[]): ChildProcessWithoutNullStreams {
    const { workspace: cwd, env } = this.#world;
    return spawn(process.execPath, [this.#file, ...args], { cwd, env });
  }

  terminal(args: string[], stdoutFile?: string): Pty {
    const { workspace: cwd, env } = this.#world;
    return new Pty(this.#file, args, { cwd, env, ...(stdoutFile === undefined ? {} : { stdoutFile }) });
  }
}
