// demian as users run it: the programs in dist/, each in its own process.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { CACHE_HOME, ROOT } from "../../support/root.ts";
import { TmuxTerminal } from "../../support/tmux.ts";
import { Pty } from "./pty.ts";
import type { World } from "./world.ts";

const DEMIAN = join(ROOT, "dist/demian.js");
const PLAIN = join(ROOT, "dist/demian-plain.js");

export class BuiltDemian {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** With pipes; stdin is left open. */
  start(...args: string[]): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [PLAIN, ...args], { cwd: this.#world.workspace, env: this.#env });
  }

  terminal(args: string[], stdoutFile?: string): Pty {
    const more = stdoutFile === undefined ? {} : { stdoutFile };
    return new Pty(PLAIN, args, { cwd: this.#world.workspace, env: this.#env, ...more });
  }

  /** `demian` itself, in a terminal whose screen can be read. */
  screen(args: string[] = [], more: Record<string, string> = {}): TmuxTerminal {
    const command = [process.execPath, DEMIAN, ...args];
    return new TmuxTerminal({ command, env: { ...this.#env, ...more }, cwd: this.#world.workspace });
  }

  get #env(): Record<string, string> {
    return { ...this.#world.env, XDG_CACHE_HOME: CACHE_HOME };
  }
}
