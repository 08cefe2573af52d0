// Finds out whether a service manager runs the daemon: then a restart is its task.
import { readFileSync } from "node:fs";
import type { Supervisor } from "../servers/types.ts";
import type { Env } from "./config.ts";

/** What the daemon sees of itself when it starts. */
export interface Surroundings {
  platform: NodeJS.Platform;
  pid: number;
  ppid: number;
  uid: number;
  /** The content of /proc/self/cgroup; empty if there is none. */
  cgroup: string;
}

export function findSupervisor(env: Env, around: Surroundings = readSurroundings()): Supervisor | undefined {
  // Inherited by all processes of a unit, so the pid decides.
  if (env["SYSTEMD_EXEC_PID"] === String(around.pid)) return describeUnit(around.cgroup);
  const label = env["XPC_SERVICE_NAME"] ?? "";
  // In a terminal the label is 0 or the application's, and the parent is the shell.
  if (around.platform !== "darwin" || around.ppid !== 1 || label === "" || label === "0") return undefined;
  return { name: "launchd", restart: `launchctl kickstart -k gui/${around.uid}/${label}` };
}

function describeUnit(cgroup: string): Supervisor {
  // `0::/user.slice/user-1000.slice/user@1000.service/app.slice/blemeesd.service`
  const units = cgroup.match(/[^/\n]+\.service(?=[/\n]|$)/g) ?? [];
  const unit = units.at(-1) ?? "blemeesd.service";
  const isUser = units.length === 0 || units.some((name) => name.startsWith("user@"));
  const user = isUser ? " --user" : "";
  return {
    name: "systemd",
    restart: `systemctl${user} restart ${unit}`,
    logs: `journalctl${user} -u ${unit}`,
  };
}

function readSurroundings(): Surroundings {
  const { platform, pid, ppid } = process;
  return { platform, pid, ppid, uid: process.getuid?.() ?? 0, cgroup: readCgroup() };
}

function readCgroup(): string {
  try {
    return readFileSync("/proc/self/cgroup", "utf8");
  } catch {
    return ""; // macOS
  }
}
