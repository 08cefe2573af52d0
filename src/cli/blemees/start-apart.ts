// Starts the daemon for a program that is started by another one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { defined } from "../../base/values.ts";
import type { BlemeesContext } from "./command.ts";
import { connectIfRunning } from "./start-daemon.ts";

/**
 * Starts the daemon, if none is running, from a process that ends at once. Editors and other programs end all descendants of
 * their agents, and the daemon with everyone's sessions must not be one.
 */
export async function startApart({ socket }: Pick<BlemeesContext, "socket">): Promise<void> {
  if ((await connectIfRunning(defined({ socket }))) !== undefined) return;
  const program = process.argv[1] ?? "";
  const args = [program, "status", ...(socket === undefined ? [] : ["--socket", socket])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "exit"); // if it failed, connecting says why
}
