// `sm daemon`: status, start, stop, restart and log of the daemon itself.
import { CodedError } from "../../base/coded-error.ts";
import { type Arguments, defineFlag, didYouMean, UsageError } from "../command.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { DEFAULT_LINES, showLogs } from "./daemon/logs.ts";
import { restartDaemon } from "./daemon/restart.ts";
import { startByHand } from "./daemon/start.ts";
import { showDaemon } from "./daemon/status.ts";
import { stopDaemon } from "./daemon/stop.ts";

interface Action {
  /** Its flags, besides the common ones. */
  flags: readonly string[];
  /** Not allowed for agents: it would stop or replace the daemon that runs them. */
  isControl?: true;
  /** Starts a daemon, which contradicts --no-start. */
  isStart?: true;
  run(given: Arguments, context: BlemeesContext): Promise<number>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  status: { flags: [], run: showDaemon },
  start: { flags: [], isControl: true, isStart: true, run: startByHand },
  stop: { flags: ["leave-agents"], isControl: true, run: stopDaemon },
  restart: { flags: [], isControl: true, isStart: true, run: restartDaemon },
  logs: { flags: ["follow", "lines"], run: showLogs },
};
const NAMES = Object.keys(ACTIONS);
const OPTIONS = NAMES.flatMap((name) => ACTIONS[name]?.flags.map((flag) => ({ flag, name })) ?? []);

export const DAEMON: BlemeesCommand = {
  name: "daemon",
  usage: `daemon ${NAMES.join("|")}`,
  summary: "show, start, stop or upgrade the daemon, or print its log",
  words: [1, 1],
  completes: NAMES,
  flags: [
    defineFlag("--leave-agents", "stop: leave the agents running; the next daemon continues with them"),
    defineFlag("-f, --follow", "logs: follow until Ctrl-C, also across restarts"),
    defineFlag("-n, --lines N", `logs: print the last N lines (default ${DEFAULT_LINES})`),
  ],
  hides: ["no-start"],
  examples: ["daemon status", "daemon restart", "daemon stop --leave-agents", "daemon logs -f"],
  notes: [
    "restart replaces the running daemon with the installed version. Agents keep running, and clients reconnect. The new",
    "daemon runs in the background with this shell's environment; flags of the old one are lost, so use the config file.",
    "stop waits for running turns (up to shutdown_grace_s), ends all agents, and returns when the daemon has exited.",
    "Exit status of status: 0 running, 3 not running.",
  ],
  async run(given, context) {
    const [name = ""] = given.words;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined)
      throw new UsageError(
        `unknown action "${name}"${didYouMean(name, NAMES) || `; the actions are ${NAMES.join(", ")}`}`,
      );
    const wrong = OPTIONS.find(({ flag }) => given.flags[flag] !== undefined && !action.flags.includes(flag));
    if (wrong !== undefined) throw new UsageError(`--${wrong.flag} is for \`sm daemon ${wrong.name}\``);
    if (action.isStart === true && given.flags["no-start"])
      throw new UsageError(`--no-start contradicts \`sm daemon ${name}\``);
    if (action.isControl === true && context.self !== undefined)
      throw new CodedError(
        "not_allowed",
        `an agent cannot ${name} the daemon that runs it; run \`sm daemon ${name}\` in your own terminal`,
      );
    return action.run(given, context);
  },
};
