// Starts the daemon if none answers: a detached process that logs to the state directory. Two callers may start two
// daemons; the one that finds the socket taken exits.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { HttpClient, type HttpOptions } from "../../client/index.ts";
import { findStateDirectory, logFileIn } from "./state-directory.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface StartOptions {
  /** The script of blemeesd. */
  program: string;
  /** The socket, if not the default. */
  socket: string | undefined;
  env: Env;
  note(text: string): void;
  /** The running daemon that it replaces, whose agents keep running. */
  replaces?: { pid: number; state_dir: string };
}

const START_BUDGET_MS = 15_000;
/** In addition, for the daemon that is replaced to exit. */
const REPLACE_BUDGET_MS = 20_000;
/** After ours has exited, another one must answer within this time. */
const LOSER_BUDGET_MS = 3_000;
/** Longer than a restart takes. */
const RETURN_MS = 5_000;
const FIRST_PAUSE_MS = 15;
const MAX_PAUSE_MS = 200;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 5;
const TRANSIENT: ReadonlySet<string> = new Set(["connection_lost", "daemon_shutdown"]);

/**
 * Undefined if no daemon is running. Waits up to `waitMs` for one that is being replaced; with `isMissed`, also for one
 * that has exited.
 */
export async function connectIfRunning(
  options: HttpOptions,
  { waitMs = RETURN_MS, isMissed = false } = {},
): Promise<HttpClient | undefined> {
  const endMs = Date.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.3)) {
    try {
      const found = await findRunning(options);
      if (found !== undefined || !isMissed || Date.now() >= endMs) return found?.http;
    } catch (error) {
      if (!isTransient(error) || Date.now() >= endMs) throw error;
    }
    await sleep(pauseMs);
  }
}

interface Running {
  http: HttpClient;
  pid: number;
}

async function findRunning(options: HttpOptions): Promise<Running | undefined> {
  let http: HttpClient | undefined;
  try {
    http = new HttpClient(options);
    const { pid } = await http.health();
    // It may be replaced before the next request.
    return { http: new HttpClient({ ...options, expectsDaemon: true }), pid };
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "no_daemon") throw error;
    if (http !== undefined) checkIsSocket(http.socket, error);
    return undefined;
  }
}

/** A daemon cannot listen on an existing file or directory. */
function checkIsSocket(path: string, cause: unknown): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isSocket()) return;
  const what = stats.isDirectory() ? "a directory" : "a file";
  throw new CodedError("connect_failed", `${path} is ${what}, not a socket; use --socket PATH`, {
    cause,
  });
}

export async function startDaemon(options: StartOptions, client: HttpOptions): Promise<HttpClient> {
  const { program, note } = options;
  if (!existsSync(program))
    throw new CodedError(
      "no_daemon",
      `no daemon is running, and ${program} is missing; start one with \`blemeesd\``,
    );
  const log = logFileIn(options.replaces?.state_dir ?? (await findStateDirectory(options.env)));
  prepareLog(log);
  const sizeBefore = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const child = launch(options, log);
  const { http, pid } = await waitForDaemon(child, client, options, () => readLogTail(log, sizeBefore));
  note(
    pid === child.pid
      ? `· started blemeesd (log: ${log})`
      : `· using blemeesd (pid ${pid}), started at the same time`,
  );
  return http;
}

function prepareLog(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    const todo = "make that directory writable, or set BLEMEESD_STATE_DIR to one that is";
    throw new CodedError(
      "no_daemon",
      `cannot start blemeesd: its log ${file} cannot be written (${toMessage(error)}); ${todo}`,
      { cause: error },
    );
  }
}

function launch({ program, socket, env, replaces }: StartOptions, log: string): ChildProcess {
  const output = openSync(log, "a", 0o600);
  const args = [
    ...(socket === undefined ? [] : ["--socket", socket]),
    ...(replaces === undefined ? [] : ["--takeover", "--state-dir", replaces.state_dir]),
  ];
  try {
    const child = spawn(program, args, {
      detached: true,
      // It may outlive the current directory.
      cwd: env["HOME"] || "/",
      env: { ...env },
      stdio: ["ignore", output, output],
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

async function waitForDaemon(
  child: ChildProcess,
  client: HttpOptions,
  { replaces }: StartOptions,
  logged: () => readonly string[],
): Promise<Running> {
  let failure: string | undefined;
  const budgetMs = START_BUDGET_MS + (replaces === undefined ? 0 : REPLACE_BUDGET_MS);
  let endMs = Date.now() + budgetMs;
  const over = (text: string): void => {
    failure = text;
    endMs = Math.min(endMs, Date.now() + LOSER_BUDGET_MS);
  };
  child.once("error", (error) => over(toMessage(error)));
  child.once("exit", (code, signal) => over(`it exited with ${signal ?? `code ${code}`}`));
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.3)) {
    const found = await findRunning(client).catch((error: unknown) => {
      // A daemon that is about to listen may drop the connection. One that is shutting down (its store failed to open, for
      // example) exits soon, and its exit code and log say why.
      if (isTransient(error)) return undefined;
      throw error;
    });
    const isOld = found !== undefined && found.pid === replaces?.pid;
    if (isOld && failure !== undefined) {
      const [reason] = logged().flatMap((line) => /^ {2}blemeesd: (.+)/.exec(line)?.[1] ?? []);
      const why = reason ?? `${failure}; ${logged().join("\n")}`;
      throw new CodedError(
        "no_daemon",
        `the daemon (pid ${found.pid}) was not replaced and is still running: ${why}`,
      );
    }
    // One of two restarts at the same time: ours may still replace the other's.
    const isOther = replaces !== undefined && found?.pid !== child.pid;
    const mayChange = isOther && failure === undefined && Date.now() < endMs;
    if (found !== undefined && !isOld && !mayChange && (await isReady(client))) return found;
    if (Date.now() >= endMs) {
      const why = failure ?? `it did not answer in ${budgetMs / 1000} s`;
      throw new CodedError("no_daemon", `cannot start blemeesd: ${why}; ${logged().join("\n")}`);
    }
    await sleep(pauseMs);
  }
}

/** The daemon is stopping or has just started. */
export function isTransient(error: unknown): boolean {
  return error instanceof CodedError && TRANSIENT.has(error.code);
}

/** A daemon answers before it has read its store, and exits if it cannot read it. */
async function isReady(client: HttpOptions): Promise<boolean> {
  try {
    await new HttpClient({ ...client, retry: false }).sessions({ limit: 1 });
    return true;
  } catch (error) {
    if (error instanceof CodedError) return false;
    throw error;
  }
}

/** Only lines written since this start. */
function readLogTail(log: string, sizeBefore: number): string[] {
  const text = readFileSync(log).subarray(sizeBefore).toString("utf8").trimEnd();
  if (text === "") return [`its log ${log} is empty`];
  const all = text.split("\n");
  const reasons = all.filter((line) => line.startsWith("blemeesd: "));
  const lines = (reasons.length > 0 ? reasons : all).slice(-LOG_TAIL_LINES);
  return [`its log ${log} says:`, ...lines.map((line) => `  ${line}`)];
}
