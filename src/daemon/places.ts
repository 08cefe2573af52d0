// Where things are by default.
import { homedir } from "node:os";
import { join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

export function getHome(env: Env): string {
  return env["HOME"] || homedir();
}

export function getDefaultStateDir(env: Env): string {
  return join(env["XDG_STATE_HOME"] || join(getHome(env), ".local", "state"), "blemees");
}

/** Where agents that outlive the daemon have their run directories. */
export function getRunsDir(state_dir: string): string {
  return join(state_dir, "runs");
}
