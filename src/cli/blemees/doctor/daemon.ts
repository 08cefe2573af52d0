// Checks the socket and the daemon.

import { lstatSync } from "node:fs";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { HttpClient, resolveSocketPath } from "../../../client/index.ts";
import type { Check } from "../../checks.ts";
import type { CheckContext } from "./check.ts";

export async function checkSocket({ socket, env }: CheckContext): Promise<Check> {
  const path = socket ?? resolveSocketPath(env);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = "socket";
  if (stats === undefined) {
    return { name, status: "warn", text: `${path} does not exist`, todo: "any sm command starts the daemon" };
  }
  const uid = process.getuid?.() ?? stats.uid;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  if (!stats.isSocket()) return { name, status: "fail", text: `${path} is not a socket`, todo: "remove it" };
  if (stats.uid !== uid) {
    const text = `${path} is owned by uid ${stats.uid}, not by you`;
    return { name, status: "fail", text, todo: "set BLEMEESD_SOCKET to another path" };
  }
  if ((stats.mode & 0o077) !== 0) {
    const text = `${path} has mode ${mode}: other users can control your agents`;
    return { name, status: "fail", text, todo: `chmod 600 ${path}, then restart the daemon` };
  }
  return { name, status: "ok", text: `${path}, mode ${mode}` };
}

export async function checkDaemon({ socket, version }: CheckContext): Promise<Check> {
  const name = "daemon";
  try {
    const http = new HttpClient({ ...defined({ socket }), retry: false });
    const { daemon, pid } = await http.health();
    const theirs = /(\d+\.\d+\.\d+\S*)$/.exec(daemon)?.[1] ?? daemon;
    const text = `${daemon}, pid ${pid}`;
    if (theirs === version) return { name, status: "ok", text };
    const todo = `its version is not ${version}: sm daemon restart`;
    return { name, status: "warn", text, todo };
  } catch (error) {
    if (error instanceof CodedError && error.code === "no_daemon")
      return { name, status: "warn", text: "not running", todo: "any sm command starts it" };
    return { name, status: "fail", text: toMessage(error), todo: "see its log (docs/operations.md)" };
  }
}
