// A program as users run it: the one in dist/, in its own process.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CACHE_HOME, ROOT } from "../support/root.ts";

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class BuiltProgram {
  readonly #home: string;
  readonly #file: string;

  constructor(name = "blemeesctl") {
    this.#file = join(ROOT, `dist/${name}.js`);
    if (!existsSync(this.#file)) throw new Error("dist/ is missing: run `npm run build` first");
    this.#home = mkdtempSync(join(tmpdir(), `${name}-`));
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
      env: {
        PATH: process.env["PATH"],
        HOME: this.#home,
        XDG_CACHE_HOME: CACHE_HOME,
        BLEMEESD_SOCKET: socket,
        ...env,
      },
    });
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
