// demian as users run it: built like the real one (heavy parts in separate files), in its own process.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { ROOT } from "../../support/root.ts";
import { TmuxTerminal } from "../../support/tmux.ts";
import { Pty } from "./pty.ts";
import type { World } from "./world.ts";

export class BuiltDemian {
  readonly #world: World;
  readonly #metafile: Metafile;

  private constructor(world: World, metafile: Metafile) {
    this.#world = world;
    this.#metafile = metafile;
  }

  static async build(world: World): Promise<BuiltDemian> {
    symlinkSync(join(ROOT, "node_modules"), join(world.directory, "node_modules"));
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: { demian: "src/bin/demian.ts", "demian-plain": "src/bin/demian-plain.ts" },
      outdir: join(world.directory, "dist"),
      bundle: true,
      platform: "node",
      format: "esm",
      splitting: true,
      external: ["koffi", "@vscode/ripgrep"],
      metafile: true,
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
    });
    writeFileSync(join(world.directory, "dist/package.json"), '{"type":"module"}');
    return new BuiltDemian(world, metafile);
  }

  /** With pipes; stdin is left open. */
  start(...args: string[]): ChildProcessWithoutNullStreams {
    const { workspace: cwd, env } = this.#world;
    return spawn(process.execPath, [this.#file("demian-plain"), ...args], { cwd, env });
  }

  terminal(args: string[], stdoutFile?: string): Pty {
    const { workspace: cwd, env } = this.#world;
    const more = stdoutFile === undefined ? {} : { stdoutFile };
    return new Pty(this.#file("demian-plain"), args, { cwd, env, ...more });
  }

  /** `demian` itself, in a terminal whose screen can be read. */
  screen(args: string[] = [], more: Record<string, string> = {}): TmuxTerminal {
    const { workspace: cwd, env } = this.#world;
    const command = [process.execPath, this.#file("demian"), ...args];
    return new TmuxTerminal({ command, env: { ...env, ...more }, cwd });
  }

  /** What is read for this source file: itself and its static imports, not what it loads on demand. */
  modulesOf(source: string): string[] {
    const { outputs } = this.#metafile;
    const first = Object.keys(outputs).filter(
      (path) => outputs[path]?.entryPoint === source || Object.hasOwn(outputs[path]?.inputs ?? {}, source),
    );
    const files = new Set(first);
    for (const file of files) {
      for (const { path, kind } of outputs[file]?.imports ?? []) {
        if (kind === "import-statement" && Object.hasOwn(outputs, path)) files.add(path);
      }
    }
    const inputs = [...files].flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
    return inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []));
  }

  #file(name: "demian" | "demian-plain"): string {
    return join(this.#world.directory, "dist", `${name}.js`);
  }
}
