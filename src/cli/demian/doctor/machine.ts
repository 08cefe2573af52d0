// Checks the machine: Node, the sandbox, ripgrep and the state directory.
import { spawnSync } from "node:child_process";
import { lstat, realpath } from "node:fs/promises";
import { listHiddenPaths } from "../../../runtime/hidden-places.ts";
import { createSandbox } from "../../../runtime/sandbox/index.ts";
import type { SandboxConfig } from "../../../runtime/sandbox/types.ts";
import { type Env, getHomeDir, getStateDir } from "../../../runtime/state-dir.ts";
import { findRipgrep } from "../../../runtime/tools/ripgrep.ts";
import type { Check } from "../../checks.ts";

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

/** The probe checks that the sandbox blocks an access which succeeds without it. */
export async function checkSandbox(config: SandboxConfig, cwd: string, env: Env): Promise<Check> {
  const name = "sandbox";
  const root = await realpath(cwd);
  const home = getHomeDir(env);
  const paths = { root, hide: listHiddenPaths(env), home, env };
  const { adapter, problem, limits, gaps = [] } = await createSandbox(config, paths);
  if (config.mode === "off") {
    return {
      name,
      status: "warn",
      text: "off: commands run with your full permissions",
      todo: 'set sandbox.mode to "workspace-write" to restrict them',
    };
  }
  if (adapter === undefined) return { name, status: "fail", text: problem ?? "no sandbox works here" };
  if (problem !== undefined) return { name, status: "warn", text: problem };
  const text = `${adapter} works (${config.mode}, network ${config.network}${limits === undefined ? "" : `; ${limits}`})`;
  return gaps.length === 0
    ? { name, status: "ok", text }
    : { name, status: "warn", text: `${text}, but ${gaps.join("; ")}` };
}

/** Optional: searches are slower without it. */
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
    text: program === undefined ? "not found; searches are slower" : `${program} does not run`,
    todo: "install ripgrep, or reinstall blemees",
  };
}

/** It stores grants and trust, so anyone who can write there could grant permissions in your name. */
export async function checkState(env: Env): Promise<Check> {
  const name = "state";
  const path = getStateDir(env);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return { name, status: "ok", text: `${path} (not created yet)` };
  const isOurs = process.getuid === undefined || found.uid === process.getuid();
  if (!found.isDirectory() || !isOurs) {
    return { name, status: "fail", text: `${path} is not a directory that you own`, todo: "remove it" };
  }
  if ((found.mode & 0o077) === 0) return { name, status: "ok", text: `${path} (private)` };
  const isWritable = (found.mode & 0o022) !== 0;
  return {
    name,
    status: isWritable ? "fail" : "warn",
    text: `${path} is ${isWritable ? "writable" : "readable"} by other users`,
    todo: `run chmod 700 ${path}`,
  };
}
