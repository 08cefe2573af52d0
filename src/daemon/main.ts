// The life of the process: flags, start, signals, exit. Exit codes: 0 stopped, 1 failed, 2 usage.

import type { Worker } from "node:worker_threads";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { createLog, type Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import { formatBanner } from "./banner.ts";
import { type LoadedConfig, loadConfig } from "./config.ts";
import type { Daemon } from "./daemon.ts";
import { formatHelp, parseFlags } from "./flags.ts";

/** Added to the grace time of turns; after that we exit by force. */
const FORCE_BUDGET_MS = 5_000;
/** How long killing agents may take before we exit anyway. */
const KILL_BUDGET_MS = 2_000;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface MainOptions {
  argv: readonly string[];
  version: string;
  storeWorker: URL;
  observeWorker: URL;
  /** The store's thread, if it was already started. */
  earlyStore?: Worker | undefined;
  /** Directory of the programs on every agent's PATH: `sm`. */
  agentTools: URL;
  /** Script of the built-in agent. */
  demian: URL;
  /** Script of `blemees`. */
  blemees: URL;
  /** The dashboard's files. */
  webFiles: URL;
}

export async function main(options: MainOptions): Promise<void> {
  const { version, storeWorker, observeWorker, agentTools, demian, blemees, webFiles, earlyStore } = options;
  const isTerminal = process.stderr.isTTY === true;
  const start = readCommandLine(options);
  if (start === undefined) return;
  const { config, warnings, takeover } = start;
  const log = createLog(
    config.log_level ?? (isTerminal && config.log_file === undefined ? "warn" : "info"),
    config.log_file,
  );
  for (const message of warnings) log.warn("config.warning", { message });
  const fail = (error: unknown): void => {
    // The sentence on stderr is enough; it is not repeated as JSON.
    if (!isTerminal || config.log_file !== undefined)
      log.error("daemon.start_failed", { message: toMessage(error) });
    process.stderr.write(`blemeesd: ${toMessage(error)}\n`);
    process.exitCode = 1;
  };
  // A signal may arrive as soon as the socket is visible, a moment before we know that it is bound.
  let isAsked = false;
  let stop: Stop = (code, { isCrash } = {}) => {
    if (isCrash === true) process.exit(code);
    isAsked = true;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(0));
  // After an unexpected error our state is unknown: we exit, and the next daemon continues from what is stored.
  const crash = (reason: unknown): void => {
    process.exitCode = 1;
    log.error("daemon.crashed", { stack: readStack(reason) });
    stop(1, { isCrash: true });
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  let daemon: Daemon;
  try {
    // Loaded here: --help and a wrong flag do not need it.
    const { startDaemon } = await import("./daemon.ts");
    daemon = await startDaemon({
      ...{ config, version, log, storeWorker, observeWorker, agentTools, demian, blemees, webFiles },
      earlyStore,
      env: process.env,
      takeover,
      // The script is that of the installed version, also after an upgrade.
      command: [process.execPath, ...process.execArgv, process.argv[1] ?? "", ...options.argv].filter(
        (word) => word !== "" && word !== "--takeover",
      ),
      stop: (how) => stop(0, how),
    });
  } catch (error) {
    fail(error);
    return;
  }
  stop = stopOnce(daemon, config.shutdown_grace_s * 1000, log);
  if (isAsked) stop(0);
  daemon.ready.catch((error: unknown) => {
    fail(error);
    stop(1);
  });
  if (isTerminal) {
    await daemon.detection.done;
    const link = daemon.http === undefined ? undefined : await linkOrWhy(daemon);
    const http = daemon.http === undefined ? undefined : { ...daemon.http, ...link };
    process.stderr.write(`${formatBanner(config, version, daemon.detection.found(), http)}\n`);
  }
}

async function linkOrWhy(daemon: Daemon): Promise<{ link: string } | { noLink: string }> {
  try {
    return { link: await daemon.webLink() };
  } catch (error) {
    return { noLink: toMessage(error) };
  }
}

function readCommandLine({ argv, version }: MainOptions): (LoadedConfig & { takeover: boolean }) | undefined {
  try {
    const flags = parseFlags(argv);
    if (flags.help) process.stdout.write(formatHelp());
    else if (flags.version) process.stdout.write(`blemeesd ${version}\n`);
    if (flags.help || flags.version) return undefined;
    const file = defined({ file: flags.config });
    const { takeover } = flags;
    return { ...loadConfig({ flags: flags.values, env: process.env, ...file }), takeover };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    process.stderr.write(`blemeesd: ${error.message}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Shuts down in order and exits with this code. */
type Stop = (code: number, how?: StopHow) => void;

interface StopHow {
  /** Does not wait for turns. */
  isCrash?: boolean;
  /** Default: the setting; after a crash, if possible. */
  leaveAgents?: boolean;
}

/** Called a second time, it no longer waits for running turns. */
function stopOnce(daemon: Daemon, graceMs: number, log: Log): Stop {
  let isStopping = false;
  let worstCode = 0;
  const hurry = new AbortController();
  return (code, { isCrash = false, leaveAgents = daemon.leavesAgents(isCrash || undefined) } = {}) => {
    worstCode = Math.max(worstCode, code);
    if (isStopping || isCrash) hurry.abort();
    if (isStopping) return;
    isStopping = true;
    const turns = daemon.activeTurns();
    const waits = graceMs > 0 && !isCrash && !leaveAgents;
    if (process.stderr.isTTY === true && turns > 0 && waits) {
      process.stderr.write(
        `\nwaiting for ${turns} running turn${turns === 1 ? "" : "s"}; press Ctrl-C again to end them\n`,
      );
    }
    log.info("daemon.shutdown_requested", { leave_agents: leaveAgents });
    const force = setTimeout(
      () => {
        log.error("daemon.shutdown_forced");
        if (leaveAgents) process.exit(1);
        setTimeout(() => process.exit(1), KILL_BUDGET_MS);
        void daemon.kill().finally(() => process.exit(1));
      },
      (waits ? graceMs : 0) + FORCE_BUDGET_MS,
    );
    daemon.close(hurry.signal, { leaveAgents, isCrash }).then(
      () => {
        clearTimeout(force);
        log.info("daemon.stop");
        process.exit(worstCode);
      },
      (error: unknown) => {
        log.error("daemon.stop_failed", { message: toMessage(error) });
        process.exit(1);
      },
    );
  };
}

function readStack(reason: unknown): string | undefined {
  return reason instanceof Error ? reason.stack : String(reason);
}
