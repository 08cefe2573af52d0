// `sm daemon stop`
import { CodedError } from "../../../base/coded-error.ts";
import type { HttpClient } from "../../../client/index.ts";
import type { Arguments } from "../../command.ts";
import { show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { type AnyStatus, findDaemon, formatDaemon, getSocketPath, waitUntilGone } from "./find.ts";
import { explainNotRunning } from "./status.ts";

/** In addition to the grace time of turns. */
const STOP_BUDGET_MS = 15_000;
/** Assumed grace period of a daemon that is already stopping and no longer reports it. */
const UNKNOWN_GRACE_MS = 60_000;

export async function stopDaemon(given: Arguments, context: BlemeesContext): Promise<number> {
  const { flags } = given;
  const found = await findDaemon(context);
  if (found.state === "none")
    return show(context, { stopped: false, socket_path: getSocketPath(context) }, () => [
      explainNotRunning(context),
    ]);
  if (found.state === "stopping") {
    context.output.note("· the daemon is already shutting down; waiting for it to exit");
    await waitForEnd(context, { limitMs: UNKNOWN_GRACE_MS });
    // It was being replaced.
    if ((await findDaemon(context)).state === "running") return stopDaemon(given, context);
    return show(context, { stopped: true }, () => [`the daemon on ${getSocketPath(context)} has stopped`]);
  }
  const { http, status } = found;
  const { pid, running_agents = 0 } = status;
  const leaving_agents = await ask(http, status, flags["leave-agents"] === true);
  if (flags["leave-agents"] && !leaving_agents)
    context.output.note("· the daemon keeps its history only in memory, so its agents are ended");
  const graceS = leaving_agents ? 0 : Number(status.config["shutdown_grace_s"] ?? 0);
  const turns = status.sessions.active_turns;
  if (turns > 0 && graceS > 0)
    context.output.note(
      `· up to ${graceS} s for ${turns} running ${turns === 1 ? "turn" : "turns"} to finish`,
    );
  await waitForEnd(context, { pid, limitMs: graceS * 1000 + STOP_BUDGET_MS });
  const next = `\`${context.words.program} daemon start\` continues with them`;
  const left = leaving_agents ? `; agents left running: ${running_agents}, ${next}` : "";
  return show(context, { stopped: true, pid, leaving_agents }, () => [
    `stopped ${formatDaemon(status)}${left}`,
  ]);
}

/** Whether it leaves its agents running. */
async function ask(http: HttpClient, status: AnyStatus, leave_agents: boolean): Promise<boolean> {
  try {
    return (await http.stopDaemon({ leave_agents })).leaving_agents;
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "not_found") throw error;
    if (leave_agents) throw tooOldError(status);
    process.kill(status.pid, "SIGTERM"); // a version without the route
    return false;
  }
}

export function tooOldError(status: AnyStatus): CodedError {
  return new CodedError(
    "too_old",
    `${formatDaemon(status)} is too old to leave its agents running; stop it with \`sm daemon stop\`, which ends them, then run \`sm daemon start\``,
  );
}

async function waitForEnd(
  context: BlemeesContext,
  { pid, limitMs }: { pid?: number; limitMs: number },
): Promise<void> {
  if (await waitUntilGone(context, { ...(pid === undefined ? {} : { pid }), limitMs })) return;
  const end = pid === undefined ? "" : `, or end it with: kill -9 ${pid}`;
  throw new CodedError(
    "not_stopped",
    `the daemon on ${getSocketPath(context)} has not stopped within ${limitMs / 1000} s; see \`sm daemon logs\`${end}`,
  );
}
