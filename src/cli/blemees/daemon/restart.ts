// `sm daemon restart`: the installed blemeesd replaces the running one, whose agents keep running.
import { CodedError } from "../../../base/coded-error.ts";
import type { Arguments } from "../../command.ts";
import { show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { startDaemon } from "../start-daemon.ts";
import { type AnyStatus, findDaemon, formatDaemon, readStatus, toClientOptions } from "./find.ts";
import { showStarted, startNew } from "./start.ts";
import { parseVersion } from "./status.ts";
import { tooOldError } from "./stop.ts";

export async function restartDaemon(_given: Arguments, context: BlemeesContext): Promise<number> {
  const found = await findDaemon(context);
  if (found.state !== "running") {
    const status = await startNew(context);
    return showStarted(
      context,
      { started: true, status },
      `no daemon was running; started ${formatDaemon(status)}`,
    );
  }
  const before = found.status;
  const { pid, state_dir, supervisor } = before;
  // A daemon started here would run outside the service, which would then count as stopped.
  if (supervisor !== undefined)
    throw new CodedError(
      "supervised",
      `${formatDaemon(before)} is run by ${supervisor.name}; restart it with: ${supervisor.restart}`,
    );
  if (state_dir === undefined) throw tooOldError(before);
  const { daemonProgram: program, socket, env } = context;
  const http = await startDaemon(
    { program, socket, env, note: () => undefined, replaces: { pid, state_dir } },
    toClientOptions(context),
  );
  const after = await readStatus(http);
  return show(context, { before: pick(before), after: pick(after) }, () => [
    `replaced ${formatDaemon(before)} with ${formatDaemon(after)}; running agents: ${before.running_agents} before, ${after.running_agents} after`,
  ]);
}

function pick({ daemon, pid, running_agents }: AnyStatus): object {
  return { daemon, version: parseVersion(daemon), pid, running_agents };
}
