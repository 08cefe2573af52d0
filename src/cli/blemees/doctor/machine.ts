// Checks Node, the sandbox, the state directory and free disk space.
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { toMessage } from "../../../base/coded-error.ts";
import { findProgram } from "../../../base/find-program.ts";
import { createRunDirectory, removeRunDirectory } from "../../../base/runs/directory.ts";
import type { Check } from "../../checks.ts";
import { findStateDirectory } from "../state-directory.ts";
import type { CheckContext } from "./check.ts";

const NODE: readonly [number, number] = [20, 19];
const MEBIBYTE = 1024 * 1024;
const FAIL_BELOW = 50 * MEBIBYTE;
const WARN_BELOW = 1024 * MEBIBYTE;

export async function checkNode(): Promise<Check> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > NODE[0] || (major === NODE[0] && minor >= NODE[1]);
  const text = `${process.version} (${process.execPath})`;
  return isNew
    ? { name: "node", status: "ok", text }
    : { name: "node", status: "fail", text, todo: `install Node ${NODE.join(".")} or newer` };
}

export async function checkSandbox({ env }: CheckContext): Promise<Check> {
  const name = "sandbox";
  const program = process.platform === "darwin" ? "sandbox-exec" : "bwrap";
  const path = await findProgram(program, env);
  if (path !== undefined) return { name, status: "ok", text: path };
  const todo = "install bubblewrap with your package manager";
  return {
    name,
    status: "warn",
    text: `${program} not found: commands cannot be sandboxed`,
    todo,
  };
}

export async function checkState({ env }: CheckContext): Promise<Check> {
  const directory = await findStateDirectory(env);
  const place = existing(directory);
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    const text = place === directory ? directory : `${directory} (will be created)`;
    return { name: "state", status: "ok", text };
  } catch {
    const todo = "make it writable, or set BLEMEESD_STATE_DIR";
    return { name: "state", status: "fail", text: `${place} is not writable`, todo };
  }
}

/** Whether agents can survive a restart of the daemon. */
export async function checkRuns({ env }: CheckContext): Promise<Check> {
  const name = "restarts";
  const directory = await findStateDirectory(env);
  const survive = "agents survive a restart of the daemon";
  if (env["BLEMEESD_AGENT_STDIO"] === "pipes") {
    return { name, status: "ok", text: "agents end with the daemon (set by BLEMEESD_AGENT_STDIO)" };
  }
  if (existing(directory) !== directory) return { name, status: "ok", text: survive };
  try {
    removeRunDirectory(createRunDirectory(join(directory, "runs")));
    return { name, status: "ok", text: survive };
  } catch (error) {
    const text = `agents end with the daemon: ${toMessage(error)}`;
    return { name, status: "warn", text, todo: "see agent_stdio in docs/config.md" };
  }
}

export async function checkDisk({ env }: CheckContext): Promise<Check> {
  const place = existing(await findStateDirectory(env));
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MEBIBYTE)} MiB free at ${place}`;
  const todo = "free some space: events that cannot be stored are lost";
  if (free < FAIL_BELOW) return { name: "disk", status: "fail", text, todo };
  return free < WARN_BELOW
    ? { name: "disk", status: "warn", text, todo }
    : { name: "disk", status: "ok", text };
}

/** The directory, or its nearest existing ancestor. */
function existing(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : existing(dirname(directory));
}
