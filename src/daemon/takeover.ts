// `--takeover`: asks the daemon on the socket to stop without touching its agents, and waits until the socket is free.
import { lstatSync, realpathSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { checkSocketPath } from "../base/socket-path.ts";
import { ErrorBody } from "../protocol/wire/http.ts";
import type { Config } from "./config.ts";

const LIMIT_MS = 15_000;
const POLL_MS = 5;
/** No daemon, or not our socket: binding reports the cause. */
const NOTHING_THERE: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "EACCES", "EPERM", "ENOTDIR"]);
/** What a daemon that exits in this moment does to a connection. */
const CUT_OFF: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/** What a takeover needs of the status; daemons of other versions may send more, or less. */
const Status = z.looseObject({
  daemon: z.string(),
  pid: z.int(),
  state_dir: z.string().optional(),
  config: z.looseObject({ shutdown_grace_s: z.number().optional() }),
});
/** What it needs of the reply to the stop request. */
const Stop = z.looseObject({ leaving_agents: z.boolean(), http_port: z.int().optional() });

/** The daemon that was replaced. */
export interface Predecessor {
  /** `blemeesd/<version>` */
  daemon: string;
  pid: number;
  /** Its loopback port. */
  http_port?: number;
}

/** Undefined if no daemon was running. `limitMs` applies to each reply and to its exit. */
export async function takeOver(
  { socket_path, state_dir }: Pick<Config, "socket_path" | "state_dir">,
  limitMs = LIMIT_MS,
): Promise<Predecessor | undefined> {
  checkSocketPath(socket_path);
  const ask = (method: string, path: string, body?: object): Promise<Reply | undefined> =>
    exchange(socket_path, { method, path, ...(body === undefined ? {} : { body }) }, limitMs).catch(
      async (error: Error) => {
        if (CUT_OFF.has(readErrno(error.cause) ?? "") && (await isGone(socket_path, limitMs)))
          return undefined;
        throw error;
      },
    );
  const untilStopped = async (): Promise<undefined> => {
    if (await isGone(socket_path, limitMs)) return;
    throw failure(
      `the daemon on ${socket_path} was already stopping and has not exited within ${limitMs / 1000} s; it is waiting for running turns; try again later, or send it a second SIGTERM`,
    );
  };
  const found = await ask("GET", "/status");
  if (found === undefined) return undefined;
  if (isStopping(found)) return untilStopped();
  const status = Status.safeParse(found.body).data;
  if (status === undefined) throw failure(`the program listening on ${socket_path} is not blemeesd`);
  const { daemon, pid, config } = status;
  const who = `${daemon} (pid ${pid}) on ${socket_path}`;
  if (status.state_dir === undefined)
    throw failure(
      `${who} is too old to leave its agents running; stop it with \`sm daemon stop\` or SIGTERM, which ends them, then start this one`,
    );
  if (toReal(status.state_dir) !== toReal(state_dir))
    throw failure(
      `${who} keeps its sessions in ${status.state_dir}, not in ${state_dir}; to continue with them, pass --state-dir ${status.state_dir}`,
    );
  const reply = await ask("POST", "/daemon/stop", { leave_agents: true });
  // Another takeover was faster.
  if (reply === undefined) return undefined;
  if (isStopping(reply)) return untilStopped();
  const stop = Stop.safeParse(reply.body).data;
  if (reply.status !== 202 || stop === undefined)
    throw failure(`${who} refused to stop: ${describe(reply)}; stop it with \`sm daemon stop\` or SIGTERM`);
  const graceMs = stop.leaving_agents ? 0 : (config.shutdown_grace_s ?? 0) * 1000;
  if (!(await isGone(socket_path, limitMs + graceMs)))
    throw failure(
      `${who} agreed to stop but did not exit within ${(limitMs + graceMs) / 1000} s; see its log, or end it with: kill -9 ${pid}`,
    );
  return { daemon, pid, ...(stop.http_port === undefined ? {} : { http_port: stop.http_port }) };
}

interface Reply {
  status: number;
  body: unknown;
}

/** Undefined if no program listens there. */
function exchange(
  socketPath: string,
  { method, path, body }: { method: string; path: string; body?: object },
  limitMs: number,
): Promise<Reply | undefined> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = text === undefined ? {} : { "content-type": "application/json" };
  return new Promise((done, reject) => {
    const outgoing = request({
      ...{ socketPath, method, path, agent: false },
      headers: { host: "localhost", ...type },
      signal: AbortSignal.timeout(limitMs),
    });
    const fail = (error: Error): void => {
      if (NOTHING_THERE.has(readErrno(error) ?? "")) done(undefined);
      else reject(explain(socketPath, error, limitMs));
    };
    outgoing.once("error", fail);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", fail);
      incoming.once("end", () =>
        done({ status: incoming.statusCode ?? 0, body: parse(Buffer.concat(chunks)) }),
      );
    });
    outgoing.end(text);
  });
}

function explain(socketPath: string, error: Error, limitMs: number): CodedError {
  const isLate = error.name === "AbortError" || error.name === "TimeoutError";
  if (isLate)
    return failure(
      `the daemon on ${socketPath} did not answer within ${limitMs / 1000} s; find its pid with \`pgrep -u $USER -fl blemeesd\` and end it, or pass another --socket`,
      error,
    );
  return failure(
    `the program listening on ${socketPath} does not answer like blemeesd (${toMessage(error)}); end it, or pass another --socket`,
    error,
  );
}

/** Waits for the daemon on the socket: a daemon removes it last. If another one has bound it then, binding reports that. */
async function isGone(path: string, limitMs: number): Promise<boolean> {
  const bound = identify(path);
  const endMs = Date.now() + limitMs;
  while ((await isListening(path)) && identify(path) === bound) {
    if (Date.now() >= endMs) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Which socket this is: a file system may give the inode of a removed one to the next. */
function identify(path: string): string | undefined {
  try {
    const { ino, mtimeMs } = lstatSync(path);
    return `${ino}:${mtimeMs}`;
  } catch {
    return undefined; // it does not exist, or cannot be seen
  }
}

function isListening(path: string): Promise<boolean> {
  return new Promise((done) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      done(true);
    });
    probe.once("error", (error) => done(!NOTHING_THERE.has(readErrno(error) ?? "")));
  });
}

function isStopping({ body }: Reply): boolean {
  return ErrorBody.safeParse(body).data?.error.code === "daemon_shutdown";
}

function describe(reply: Reply): string {
  return ErrorBody.safeParse(reply.body).data?.error.message ?? `it answered with status ${reply.status}`;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined; // not ours; the caller says so
  }
}

function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // it does not exist yet
  }
}

function failure(message: string, cause?: unknown): CodedError {
  return new CodedError("internal", message, { cause });
}
