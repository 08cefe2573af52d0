// The path of the daemon's socket, for the daemon and all clients. The last resort is a 0700 directory that we own: a socket
// directly in /tmp could be created by another user first.
import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { CodedError, readErrno } from "./coded-error.ts";

type Env = Readonly<Record<string, string | undefined>>;

const SOCKET_NAME = "blemeesd.sock";
/** Maximum length in sockaddr_un without its NUL. Node silently truncates longer paths. */
const MAX_PATH_BYTES: Partial<Record<NodeJS.Platform, number>> = { darwin: 103 };
const MAX_PATH_BYTES_LINUX = 107;

export function resolveSocketPath(env: Env = process.env): string {
  // The daemon sets BLEMEES_SOCKET for its agents, so that tools inside them find it.
  const named = env["BLEMEESD_SOCKET"] || env["BLEMEES_SOCKET"];
  if (named) return named;
  const runtime = env["XDG_RUNTIME_DIR"];
  // The XDG specification says to ignore relative paths.
  if (runtime && isAbsolute(runtime)) return join(runtime, SOCKET_NAME);
  return join(getFallbackDirectory(), SOCKET_NAME);
}

/** Always /tmp: with os.tmpdir(), a daemon and a client with different TMPDIRs would not find each other. */
export function getFallbackDirectory(): string {
  return `/tmp/blemeesd-${ownUid()}`;
}

/** Throws if the system would truncate the path. */
export function checkSocketPath(path: string): void {
  const limit = MAX_PATH_BYTES[process.platform] ?? MAX_PATH_BYTES_LINUX;
  const bytes = Buffer.byteLength(path);
  if (bytes <= limit) return;
  throw new CodedError(
    "socket_path_too_long",
    `the socket path has ${bytes} bytes, the system allows ${limit}; choose a shorter one with --socket or BLEMEESD_SOCKET: ${path}`,
  );
}

/**
 * For a socket in the fallback directory: throws unless only we can access that directory. A missing directory is
 * `socket_directory_missing`, so that no client connects to one that is created a moment later. Other locations are the
 * user's choice and are not checked.
 */
export function checkSocketDirectory(path: string): void {
  const directory = dirname(path);
  if (directory === getFallbackDirectory()) checkPrivateDirectory(directory);
}

/** Throws unless it is a real directory, ours, and closed to everyone else. */
export function checkPrivateDirectory(directory: string): void {
  const fault = findFault(readStats(directory));
  if (fault === undefined) return;
  throw new CodedError(
    "socket_directory_unsafe",
    `${directory} ${fault}, so another user could impersonate the daemon; remove it, or set BLEMEESD_SOCKET`,
  );
}

/** For the daemon: creates the socket's directory if it is missing, then checks it. */
export function prepareSocketDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  checkSocketDirectory(path);
}

function readStats(directory: string): Stats {
  try {
    return lstatSync(directory);
  } catch (cause) {
    if (readErrno(cause) !== "ENOENT") throw cause;
    throw new CodedError("socket_directory_missing", `${directory} does not exist`, { cause });
  }
}

function findFault(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!stats.isDirectory()) return "is not a directory";
  if (stats.uid !== ownUid()) return `belongs to uid ${stats.uid}, not to you`;
  const mode = stats.mode & 0o777;
  return mode === 0o700 ? undefined : `has mode ${mode.toString(8).padStart(4, "0")} instead of 0700`;
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}
