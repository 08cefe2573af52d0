// `sm daemon status`
import { defined } from "../../../base/values.ts";
import { formatAge } from "../../../client/view/format.ts";
import type { Arguments } from "../../command.ts";
import { formatTable, show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { type AnyStatus, findDaemon, formatDaemon, getSocketPath } from "./find.ts";

/** As in systemctl. */
const EXIT_NOT_RUNNING = 3;

export async function showDaemon(_given: Arguments, context: BlemeesContext): Promise<number> {
  const found = await findDaemon(context);
  const socket_path = getSocketPath(context);
  if (found.state === "running") {
    const { status } = found;
    const { daemon, pid, uptime_s, state_dir, log, supervisor, sessions, running_agents } = status;
    const version = parseVersion(daemon);
    const more = defined({ state_dir, log, supervisor, running_agents });
    const document = { running: true, daemon, version, pid, uptime_s, socket_path, sessions, ...more };
    return show(context, document, () => formatTable(statusRows(status, context), context.output.columns));
  }
  const stopping = found.state === "stopping";
  const text = stopping ? `the daemon on ${socket_path} is shutting down` : explainNotRunning(context);
  await show(context, { running: false, stopping, socket_path }, () => [text]);
  return EXIT_NOT_RUNNING;
}

export function explainNotRunning(context: BlemeesContext): string {
  return `no daemon is running on ${getSocketPath(context)}`;
}

function statusRows(status: AnyStatus, context: BlemeesContext): string[][] {
  const { daemon, uptime_s, state_dir, sessions, running_agents, log, supervisor } = status;
  const isOther = parseVersion(daemon) !== context.version;
  const { program } = context.words;
  const hint = isOther ? `; ${context.version} is installed: ${program} daemon restart` : "";
  const agents = running_agents === undefined ? "" : `; agents running: ${running_agents}`;
  return [
    ["daemon", `${formatDaemon(status)}, up ${formatAge(uptime_s * 1000)}${hint}`],
    ["socket", getSocketPath(context)],
    ...(state_dir === undefined ? [] : [["state", state_dir]]),
    ["sessions", `${sessions.total} live, ${sessions.active_turns} in a turn${agents}`],
    ...(log === undefined ? [] : [["log", logText(log, supervisor)]]),
    ...(supervisor === undefined ? [] : [["service", `${supervisor.name}: ${supervisor.restart}`]]),
  ];
}

function logText({ to, path }: NonNullable<AnyStatus["log"]>, supervisor: AnyStatus["supervisor"]): string {
  if (to === "journal") return `the journal: ${supervisor?.logs ?? "journalctl"}`;
  return path ?? (to === "file" ? "a file that was moved or removed" : "its stderr");
}

/** `1.2.3` of `blemeesd/1.2.3` */
export function parseVersion(daemon: string): string {
  return daemon.slice(daemon.indexOf("/") + 1);
}
