// Where a daemon that is started from here keeps its files. Looked up as the daemon does it: environment, config file,
// default.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

export async function findStateDirectory(env: Env): Promise<string> {
  return (
    env["BLEMEESD_STATE_DIR"] ||
    (await readConfigured(env)) ||
    join(env["XDG_STATE_HOME"] || join(getHome(env), ".local", "state"), "blemees")
  );
}

export function logFileIn(stateDirectory: string): string {
  return join(stateDirectory, "blemeesd.log");
}

export function getConfigFile(env: Env): string {
  return join(env["XDG_CONFIG_HOME"] || join(getHome(env), ".config"), "blemeesd", "config.toml");
}

async function readConfigured(env: Env): Promise<string | undefined> {
  try {
    const text = readFileSync(getConfigFile(env), "utf8");
    // Loaded only if there is a file, to keep commands fast.
    const { parse } = await import("smol-toml");
    const { state_dir } = parse(text);
    return typeof state_dir === "string" ? state_dir : undefined;
  } catch {
    return undefined; // usually there is none; the daemon reports an invalid one
  }
}

function getHome(env: Env): string {
  return env["HOME"] || homedir();
}
