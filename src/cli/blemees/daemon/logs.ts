// `sm daemon logs`: the end of the daemon's log, if it is a file.
import { existsSync } from "node:fs";
import { CodedError } from "../../../base/coded-error.ts";
import { readLastLines } from "../../../base/last-lines.ts";
import { type Arguments, readNumberFlag } from "../../command.ts";
import { show } from "../../output.ts";
import type { BlemeesContext } from "../command.ts";
import { findStateDirectory, logFileIn } from "../state-directory.ts";
import { type AnyStatus, findDaemon, formatDaemon } from "./find.ts";
import { followLines } from "./log-file.ts";
import { explainNotRunning } from "./status.ts";

export const DEFAULT_LINES = 50;

export async function showLogs(given: Arguments, context: BlemeesContext): Promise<number> {
  const count = readNumberFlag(given, "lines", { isWhole: true }) ?? DEFAULT_LINES;
  const log_file = await findLogFile(context);
  const { lines, end } = readLastLines(log_file, count);
  if (!given.flags["follow"]) return show(context, { log_file, lines }, () => lines);
  const { output, isJson, signal } = context;
  const print = (line: string): Promise<void> => (isJson ? output.json({ line }) : output.line(line));
  for (const line of lines) await print(line);
  for await (const line of followLines(log_file, end, signal)) await print(line);
  return 0;
}

/** The log of the running daemon, or of the last one that `sm` started. */
async function findLogFile(context: BlemeesContext): Promise<string> {
  const found = await findDaemon(context);
  const usual = logFileIn(await findStateDirectory(context.env));
  if (found.state === "running" && found.status.log !== undefined) return requireLogFile(found.status);
  if (existsSync(usual)) return usual;
  const why = found.state === "none" ? explainNotRunning(context) : "the daemon does not say where it logs";
  throw new CodedError(
    "no_log",
    `${why}, and ${usual}, the log of daemons that \`sm\` starts, does not exist`,
  );
}

function requireLogFile(status: AnyStatus): string {
  const { log, supervisor } = status;
  if (log?.path !== undefined) return log.path;
  const text =
    log?.to === "journal"
      ? `logs to the journal; show it with: ${supervisor?.logs ?? `journalctl _PID=${status.pid}`} -f`
      : log?.to === "file"
        ? "logs to a file that was moved or removed; `sm daemon restart` opens a new one"
        : "logs to its stderr, which is not a file: look at the terminal or the program that started it, or set log_file";
  throw new CodedError("no_log", `${formatDaemon(status)} ${text}`);
}
