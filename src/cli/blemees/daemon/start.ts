// `sm daemon start`
import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { HttpClient } from "../../../client/index.ts";
import type { Arguments } from "../../command.ts";
import { show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { startDaemon } from "../start-daemon.ts";
import {
  type AnyStatus,
  findDaemon,
  formatDaemon,
  getSocketPath,
  readStatus,
  toClientOptions,
  waitUntilGone,
} from "./find.ts";
import { parseVersion } from "./status.ts";

/** For a daemon that is stopping: longer than the default of shutdown_grace_s. */
const STOPPING_MS = 60_000;

export async function startByHand(_given: Arguments, context: BlemeesContext): Promise<number> {
  const found = await findDaemon(context);
  if (found.state === "running") {
    const { status } = found;
    return showStarted(context, { started: false, status }, `${formatDaemon(status)} is already running`);
  }
  const status = await startNew(context);
  return showStarted(context, { started: true, status }, `started ${formatDaemon(status)}`);
}

/** Starts a daemon; first waits for one that is stopping. */
export async function startNew(context: BlemeesContext): Promise<AnyStatus> {
  const found = await findDaemon(context);
  if (found.state === "stopping") {
    context.output.note("· waiting for the daemon that is shutting down");
    if (!(await waitUntilGone(context, { limitMs: STOPPING_MS })))
      throw new CodedError(
        "no_daemon",
        `the daemon on ${getSocketPath(context)} is still shutting down, waiting for running turns; try again later`,
      );
  }
  const { daemonProgram: program, socket, env } = context;
  const http: HttpClient = await startDaemon(
    { program, socket, env, note: () => undefined },
    toClientOptions(context),
  );
  return readStatus(http);
}

export function showStarted(
  context: BlemeesContext,
  { started, status }: { started: boolean; status: AnyStatus },
  text: string,
): Promise<number> {
  const { daemon, pid, log } = status;
  const log_file = defined({ log_file: log?.path });
  const logged = started && log?.path !== undefined ? `; log: ${log.path}` : "";
  return show(context, { started, daemon, version: parseVersion(daemon), pid, ...log_file }, () => [
    `${text}${logged}`,
  ]);
}
