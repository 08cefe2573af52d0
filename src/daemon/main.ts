// The life of the process: flags, start, signals, end. Exit codes: 0 stopped, 1 failed, 2 usage.
import { CodedError, messageOf } from "../base/coded-error.ts";
import { createLog, type Log } from "../base/log.ts";
import { bannerText } from "./banner.ts";
import { loadConfig } from "./config.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { helpText, parseFlags } from "./flags.ts";

/** On top of the grace time for turns; past it we leave by force (spec §9.5). */
const FORCE_BUDGET_MS = 5_000;
/** No agent may be left behind, but nor may we. */
const KILL_BUDGET_MS = 2_000;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface MainOptions {
  argv: readonly string[];
  version: string;
  storeWorker: URL;
  observeWorker: URL;
  /** The programs that every agent finds on its PATH: `sm`. */
  agentTools: URL;
  /** The script of our own agent. */
  demian: URL;
  /** The dashboard's files. */
  webFiles: URL;
}

export async function main(options: MainOptions): Promise<void> {
  const { version, storeWorker, observeWorker, agentTools, demian, webFiles } = options;
  const isTerminal = process.stderr.isTTY === true;
  const start = readCommandLine(options);
  if (start === undefined) return;
  const { config, warnings } = start;
  const log = createLog(
    config.log_level ?? (isTerminal && config.log_file === undefined ? "warn" : "info"),
    config.log_file,
  );
  for (const message of warnings) log.warn("config.warning", { message });
  const fail = (error: unknown): void => {
    // A person reads the sentence, and not the same once more as JSON.
    if (!isTerminal || config.log_file !== undefined)
      log.error("daemon.start_failed", { message: messageOf(error) });
    process.stderr.write(`blemeesd: ${messageOf(error)}\n`);
    process.exitCode = 1;
  };
  // A signal may come as soon as somebody sees the socket, a moment before we are told that it is there.
  let isAsked = false;
  let stop: Stop = (code, isCrash) => {
    if (isCrash) process.exit(code);
    isAsked = true;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(0));
  // What nobody expected leaves us in a state that nobody knows: sessions are ended and stored, and the next daemon goes on
  // from there.
  const crash = (reason: unknown): void => {
    process.exitCode = 1;
    log.error("daemon.crashed", { stack: stackOf(reason) });
    stop(1, true);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  let daemon: Daemon;
  try {
    daemon = await startDaemon({
      ...{ config, version, log, storeWorker, observeWorker, agentTools, demian, webFiles },
      env: process.env,
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
    process.stderr.write(`${bannerText(config, version, daemon.detection.found(), http)}\n`);
  }
}

async function linkOrWhy(daemon: Daemon): Promise<{ link: string } | { noLink: string }> {
  try {
    return { link: await daemon.webLink() };
  } catch (error) {
    return { noLink: messageOf(error) };
  }
}

function readCommandLine({ argv, version }: MainOptions): ReturnType<typeof loadConfig> | undefined {
  try {
    const flags = parseFlags(argv);
    if (flags.help) process.stdout.write(helpText());
    else if (flags.version) process.stdout.write(`blemeesd ${version}\n`);
    if (flags.help || flags.version) return undefined;
    const file = flags.config === undefined ? {} : { file: flags.config };
    return loadConfig({ flags: flags.values, env: process.env, ...file });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    process.stderr.write(`blemeesd: ${error.message}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Ends the daemon in order, and the process with this code. `isCrash`: waits for no turn. */
type Stop = (code: number, isCrash?: boolean) => void;

/** Asked a second time, it no longer waits for running turns. */
function stopOnce(daemon: Daemon, graceMs: number, log: Log): Stop {
  let isStopping = false;
  let worstCode = 0;
  const hurry = new AbortController();
  return (code, isCrash = false) => {
    worstCode = Math.max(worstCode, code);
    if (isStopping || isCrash) hurry.abort();
    if (isStopping) return;
    isStopping = true;
    const turns = daemon.activeTurns();
    if (process.stderr.isTTY === true && turns > 0 && graceMs > 0 && !isCrash) {
      process.stderr.write(
        `\nwaiting for ${turns} running turn${turns === 1 ? "" : "s"}; Ctrl-C again ends them\n`,
      );
    }
    log.info("daemon.shutdown_requested");
    const force = setTimeout(
      () => {
        log.error("daemon.shutdown_forced");
        setTimeout(() => process.exit(1), KILL_BUDGET_MS);
        void daemon.kill().finally(() => process.exit(1));
      },
      (isCrash ? 0 : graceMs) + FORCE_BUDGET_MS,
    );
    daemon.close(hurry.signal).then(
      () => {
        clearTimeout(force);
        log.info("daemon.stop");
        process.exit(worstCode);
      },
      (error: unknown) => {
        log.error("daemon.stop_failed", { message: messageOf(error) });
        process.exit(1);
      },
    );
  };
}

function stackOf(reason: unknown): string | undefined {
  return reason instanceof Error ? reason.stack : String(reason);
}
