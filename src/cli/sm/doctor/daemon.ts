// The socket and the daemon behind it.
import { lstatSync } from "node:fs";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import { HttpClient, resolveSocketPath } from "../../../client/index.ts";
import type { Check, Patient } from "./check.ts";

export async function checkSocket({ socket, env }: Patient): Promise<Check> {
  const path = socket ?? resolveSocketPath(env);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const name = "socket";
  if (stats === undefined) {
    return { name, status: "warn", text: `${path} is not there`, todo: "any sm command starts the daemon" };
  }
  const uid = process.getuid?.() ?? stats.uid;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  if (!stats.isSocket()) return { name, status: "fail", text: `${path} is not a socket`, todo: "remove it" };
  if (stats.uid !== uid) {
    const text = `${path} belongs to uid ${stats.uid}, not to you`;
    return { name, status: "fail", text, todo: "set BLEMEESD_SOCKET to one of your own" };
  }
  if ((stats.mode & 0o077) !== 0) {
    const text = `${path} has mode ${mode}: others can reach your agents`;
    return { name, status: "fail", text, todo: `chmod 600 ${path}, then restart the daemon` };
  }
  return { name, status: "ok", text: `${path}, mode ${mode}` };
}

export async function checkDaemon({ socket, version }: Patient): Promise<Check> {
  const name = "daemon";
  try {
    const http = new HttpClient({ ...(socket === undefined ? {} : { socket }), retry: false });
    const { daemon, pid } = await http.health();
    const theirs = /(\d+\.\d+\.\d+\S*)$/.exec(daemon)?.[1] ?? daemon;
    const text = `${daemon}, pid ${pid}`;
    if (theirs === version) return { name, status: "ok", text };
    const todo = `it is not of this version (${version}): end it (kill ${pid}), the next sm starts the new one`;
    return { name, status: "warn", text, todo };
  } catch (error) {
    if (error instanceof CodedError && error.code === "no_daemon")
      return { name, status: "warn", text: "not running", todo: "any sm command starts it" };
    return { name, status: "fail", text: messageOf(error), todo: "see its log (docs/operations.md)" };
  }
}
