// A client asks for a restart: starts the installed blemeesd, which takes over the socket and continues with the agents, as
// `sm daemon restart` does. With the flags and the environment of this daemon.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { CodedError, toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { LogPlace } from "../servers/types.ts";

export interface ReplacementOptions {
  /** The command that started this daemon, without the takeover flag. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  state_dir: string;
  /** Where this daemon logs. */
  place: LogPlace;
  log: Log;
}

/** Resolves when the process has started. It may still fail: then this daemon keeps running and logs it. */
export async function startReplacement(options: ReplacementOptions): Promise<{ pid: number }> {
  const { command, env, log } = options;
  const [program = process.execPath, ...args] = command;
  const { stdio, close } = openOutput(options);
  let child: ChildProcess;
  try {
    child = spawn(program, [...args, "--takeover"], {
      detached: true,
      // It may outlive the current directory.
      cwd: env["HOME"] || "/",
      env,
      stdio,
    });
    await waitForSpawn(child);
  } catch (error) {
    throw new CodedError(
      "restart_failed",
      `cannot start ${program}: ${toMessage(error)}; this daemon keeps running`,
      {
        cause: error,
      },
    );
  } finally {
    close();
  }
  child.once("exit", (code, signal) => log.error("daemon.restart_failed", { code, signal }));
  child.unref();
  return { pid: child.pid ?? 0 };
}

/** Its stderr is ours if that is a file, else the file that `sm` uses. */
function openOutput({ place, state_dir }: ReplacementOptions): { stdio: StdioOptions; close(): void } {
  if (place.to === "file") return { stdio: ["ignore", "ignore", "inherit"], close: () => undefined };
  const output = openSync(join(state_dir, "blemeesd.log"), "a", 0o600);
  return { stdio: ["ignore", output, output], close: () => closeSync(output) };
}

function waitForSpawn(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}
