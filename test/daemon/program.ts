// The built blemeesd as a program: run to its end, or started by hand for what test/support does not cover.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAKE_CLAUDE } from "../support/daemon.ts";
import { CACHE_HOME, ROOT } from "../support/root.ts";

export const PROGRAM = join(ROOT, "dist/blemeesd.js");

const homes: string[] = [];

export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "blemeesd-"));
  homes.push(home);
  for (const name of ["run", "state", "config/blemeesd", "claude"])
    mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
  return home;
}

/** Removes everything that `newHome` created. */
export function removeHomes(): void {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}

export function envOf(home: string, env: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CACHE_HOME: CACHE_HOME,
    XDG_RUNTIME_DIR: join(home, "run"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    BLEMEESD_CLAUDE: FAKE_CLAUDE,
    ...env,
  };
}

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs blemeesd until it exits on its own. */
export function run(args: string[], home = newHome(), env: Record<string, string> = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: "utf8",
    env: envOf(home, env),
    timeout: 45_000,
  });
  return { status, stdout, stderr };
}

/** Starts it and returns the process; stderr goes to `collect`. */
export function launch(
  command: string,
  args: string[],
  env: Record<string, string>,
  collect: (text: string) => void,
): ChildProcess {
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr?.on("data", (chunk: Buffer) => collect(chunk.toString()));
  return child;
}
