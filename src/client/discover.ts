// Finds the daemon's socket and explains failed connections.
import { lstatSync } from "node:fs";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { checkSocketDirectory, checkSocketPath, resolveSocketPath } from "../base/socket-path.ts";

const START_IT = "start one with `blemeesd` (or `npm start` in a checkout)";

/** The given path or the daemon's default. Throws if the path is unsafe. */
export function findSocket(given: string | undefined): string {
  const path = given ?? resolveSocketPath();
  checkSocketPath(path);
  try {
    checkSocketDirectory(path);
  } catch (error) {
    throw readErrno(error) === "socket_directory_missing" ? noDaemon(path, "no such socket", error) : error;
  }
  return path;
}

const REASONS: Record<string, string> = {
  ENOENT: "no such socket",
  ECONNREFUSED: "stale socket: no process is listening",
};

export function explainConnectError(path: string, error: unknown): CodedError {
  const errno = readErrno(error) ?? "";
  const reason = errno === "ECONNREFUSED" && !isSocket(path) ? "not a socket" : REASONS[errno];
  if (reason !== undefined) return noDaemon(path, reason, error);
  // It stopped listening before it accepted us.
  if (errno === "ECONNRESET")
    return new CodedError("connection_lost", `the daemon at ${path} closed the connection`, { cause: error });
  if (errno === "EACCES" || errno === "EPERM") {
    return new CodedError("not_allowed", explainRefusal(path), { cause: error });
  }
  return new CodedError("connect_failed", `cannot connect to ${path}: ${toMessage(error)}`, { cause: error });
}

/** A sandbox and another user's socket cause the same error. */
function explainRefusal(path: string): string {
  const owner = findOwner(path);
  if (owner === "another user") return `${path} belongs to another user; set BLEMEESD_SOCKET to yours`;
  if (owner === "you")
    return `permission denied for ${path}, although you own it; if this process is sandboxed, run it outside the sandbox`;
  return `permission denied for ${path}: a parent directory or a sandbox denies access`;
}

function findOwner(path: string): "you" | "another user" | undefined {
  try {
    return lstatSync(path).uid === process.getuid?.() ? "you" : "another user";
  } catch {
    return undefined; // stat is denied too
  }
}

/** Connecting to a plain file fails like connecting to a socket without a listener. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? true;
}

function noDaemon(path: string, reason: string, cause: unknown): CodedError {
  const text = `no daemon at ${path} (${reason}); ${START_IT}, or set BLEMEESD_SOCKET to the socket of a running one`;
  return new CodedError("no_daemon", text, { cause });
}
