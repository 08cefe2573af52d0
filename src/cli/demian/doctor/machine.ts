// What the machine offers: Node, a sandbox that holds, ripgrep, and a directory of our own.
import { spawnSync } from "node:child_process";
import { lstat, realpath } from "node:fs/promises";
import { hiddenPlaces } from "../../../runtime/hidden-places.ts";
import { createSandbox } from "../../../runtime/sandbox/index.ts";
import type { SandboxConfig } from "../../../runtime/sandbox/types.ts";
import { type Env, stateDir } from "../../../runtime/state-dir.ts";
import { findRipgrep } from "../../../runtime/tools/ripgrep.ts";
import type { Check } from "./check.ts";

const NODE_MAJOR = 20;

export function checkNode(version = process.versions.node): Check {
  const isEnough = Number.parseInt(version, 10) >= NODE_MAJOR;
  return {
    name: "node",
    status: isEnough ? "ok" : "fail",
    text: `Node ${version}`,
    ...(isEnough ? {} : { todo: `install Node ${NODE_MAJOR}.19 or newer` }),
  };
}

/** The probe tries the sandbox, and that the same attempt succeeds without it. */
export async function checkSandbox(config: SandboxConfig, cwd: string, env: Env): Promise<Check> {
  const name = "sandbox";
  const root = await realpath(cwd);
  const { adapter, problem } = await createSandbox(config, { root, hide: hiddenPlaces(env) });
  if (config.mode === "off") {
    return {
      name,
      status: "warn",
      text: "off: commands can do everything you can",
      todo: 'sandbox.mode "workspace-write" holds them',
    };
  }
  if (adapter === undefined) return { name, status: "fail", text: problem ?? "none works here" };
  if (problem !== undefined) return { name, status: "warn", text: problem };
  return { name, status: "ok", text: `${adapter} works (${config.mode}, network ${config.network})` };
}

/** Without it searches are slower, and right all the same. */
export async function checkRipgrep(cwd: string, env: Env): Promise<Check> {
  const name = "ripgrep";
  const program = await findRipgrep(cwd, env["PATH"] ?? "");
  if (program !== undefined) {
    const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 5000 });
    if (status === 0) return { name, status: "ok", text: `${stdout.split("\n")[0]} (${program})` };
  }
  return {
    name,
    status: "warn",
    text: program === undefined ? "not found: searches are slower" : `${program} does not run`,
    todo: "install ripgrep, or blemees again",
  };
}

/** It holds grants and trust: whoever else can write there could allow things in your name. */
export async function checkState(env: Env): Promise<Check> {
  const name = "state";
  const path = stateDir(env);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return { name, status: "ok", text: `${path} (not there yet)` };
  const isOurs = process.getuid === undefined || found.uid === process.getuid();
  if (!found.isDirectory() || !isOurs) {
    return { name, status: "fail", text: `${path} is not a directory of yours`, todo: "remove it" };
  }
  if ((found.mode & 0o077) === 0) return { name, status: "ok", text: `${path} (only for you)` };
  const isWritable = (found.mode & 0o022) !== 0;
  return {
    name,
    status: isWritable ? "fail" : "warn",
    text: `${path} can be ${isWritable ? "written" : "read"} by others`,
    todo: `run chmod 700 ${path}`,
  };
}
