// Finds the daemon's socket, and turns a failed connect into a sentence that says what to do about it.
import { lstatSync } from "node:fs";
import { CodedError, errnoOf, messageOf } from "../base/coded-error.ts";
import { checkSocketDirectory, checkSocketPath, resolveSocketPath } from "../base/socket-path.ts";

const START_IT = "start one with `blemeesd` (or `npm start` in a checkout)";

/** The path to connect to: the given one, or where the daemon puts its socket by default. Throws if unsafe. */
export function findSocket(given: string | undefined): string {
  const path = given ?? resolveSocketPath();
  checkSocketPath(path);
  try {
    checkSocketDirectory(path);
  } catch (error) {
    throw errnoOf(error) === "socket_directory_missing" ? noDaemon(path, "no socket there", error) : error;
  }
  return path;
}

const REASONS: Record<string, string> = {
  ENOENT: "no socket there",
  ECONNREFUSED: "nobody listens on that socket; it was left behind",
};

export function explainConnectError(path: string, error: unknown): CodedError {
  const errno = errnoOf(error) ?? "";
  const reason = errno === "ECONNREFUSED" && !isSocket(path) ? "that is not a socket" : REASONS[errno];
  if (reason !== undefined) return noDaemon(path, reason, error);
  if (errno === "EACCES" || errno === "EPERM") {
    return new CodedError("not_allowed", refusalText(path), { cause: error });
  }
  return new CodedError("connect_failed", `cannot connect to ${path}: ${messageOf(error)}`, { cause: error });
}

/** A sandbox that forbids the connection and a socket of somebody else give the same error. */
function refusalText(path: string): string {
  const owner = ownerOf(path);
  if (owner === "somebody else") return `${path} belongs to another user; set BLEMEESD_SOCKET to yours`;
  if (owner === "you")
    return `this process may not connect to ${path}, although it is yours; if this runs in a sandbox, run it outside`;
  return `this process may not connect to ${path}: a parent directory or a sandbox denies access`;
}

function ownerOf(path: string): "you" | "somebody else" | undefined {
  try {
    return lstatSync(path).uid === process.getuid?.() ? "you" : "somebody else";
  } catch {
    return undefined; // not even to be looked at
  }
}

/** The system refuses a connection to a plain file in the same words as to a socket without a listener. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? true;
}

function noDaemon(path: string, reason: string, cause: unknown): CodedError {
  const text = `no daemon at ${path} (${reason}); ${START_IT}, or set BLEMEESD_SOCKET to where yours listens`;
  return new CodedError("no_daemon", text, { cause });
}
