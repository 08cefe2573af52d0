// Finds the daemon on the socket, and waits for it to exit.
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../../../base/coded-error.ts";
import { isRunning } from "../../../base/proc.ts";
import { defined } from "../../../base/values.ts";
import type { StatusReply } from "../../../client/http/types.ts";
import { HttpClient, type HttpOptions, resolveSocketPath } from "../../../client/index.ts";
import type { BlemeesContext } from "../command.ts";
import { connectIfRunning, isTransient } from "../start-daemon.ts";

/** Daemons of earlier versions send less. */
export type AnyStatus = Pick<StatusReply, "daemon" | "pid" | "uptime_s" | "sessions" | "config"> &
  Partial<StatusReply>;

export type Found =
  | { state: "none" }
  | { state: "stopping" }
  | { state: "running"; http: HttpClient; status: AnyStatus };

const POLL_MS = 30;
/** A daemon removes its socket a moment before it exits. The limit keeps a zombie from blocking us. */
const EXIT_MS = 2_000;

export async function findDaemon(context: BlemeesContext): Promise<Found> {
  try {
    const http = await connectIfRunning(toClientOptions(context), { waitMs: 0 });
    return http === undefined ? { state: "none" } : { state: "running", http, status: await http.status() };
  } catch (error) {
    if (isTransient(error)) return { state: "stopping" };
    if (error instanceof CodedError && error.code === "no_daemon") return { state: "none" };
    throw error;
  }
}

export function toClientOptions({ socket }: BlemeesContext): HttpOptions {
  return { ...defined({ socket }), retry: false };
}

export function getSocketPath({ socket, env }: BlemeesContext): string {
  return socket ?? resolveSocketPath(env);
}

/** `blemeesd/1.2.3 (pid 4)` */
export function formatDaemon({ daemon, pid }: Pick<AnyStatus, "daemon" | "pid">): string {
  return `${daemon} (pid ${pid})`;
}

/** The status of a daemon that was started; of the next one if that is being replaced already. */
export function readStatus({ socket }: HttpClient): Promise<AnyStatus> {
  return new HttpClient({ socket, expectsDaemon: true }).status();
}

/** Waits until the daemon has exited; false if it has not in time. Without a pid, it is one that is shutting down. */
export async function waitUntilGone(
  context: BlemeesContext,
  { pid, limitMs }: { pid?: number; limitMs: number },
): Promise<boolean> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    const found = await findDaemon(context);
    if (found.state === "none") break;
    if (found.state === "running" && found.status.pid !== pid) break;
    if (Date.now() >= endMs) return false;
    await pause(context.signal);
  }
  const exitEndMs = Date.now() + EXIT_MS;
  while (pid !== undefined && isRunning(pid) && Date.now() < exitEndMs) await pause(context.signal);
  return true;
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(POLL_MS, undefined, { signal }).catch(() => {
    throw new CodedError("aborted", "stopped waiting for the daemon");
  });
}
