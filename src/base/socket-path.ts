// Where the daemon's socket is, for the daemon and every client alike (spec §5.1). The last resort is not the
// spec's /tmp/blemeesd-<uid>.sock, which anybody may create first, but a 0700 directory that we own (SAFETY).
import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { CodedError, errnoOf } from "./coded-error.ts";

type Env = Readonly<Record<string, string | undefined>>;

const SOCKET_NAME = "blemeesd.sock";
/** What fits into sockaddr_un beside its NUL. Node cuts a longer path without a word. */
const MAX_PATH_BYTES: Partial<Record<NodeJS.Platform, number>> = { darwin: 103 };
const MAX_PATH_BYTES_LINUX = 107;

export function resolveSocketPath(env: Env = process.env): string {
  // BLEMEES_SOCKET is what the daemon gives to the agents it starts, so that tools inside them find it.
  const named = env["BLEMEESD_SOCKET"] || env["BLEMEES_SOCKET"];
  if (named) return named;
  const runtime = env["XDG_RUNTIME_DIR"];
  // The XDG specification says that a relative path is to be ignored.
  if (runtime && isAbsolute(runtime)) return join(runtime, SOCKET_NAME);
  return join(fallbackDirectory(), SOCKET_NAME);
}

/** Fixed to /tmp: with os.tmpdir() a daemon and a client that have different TMPDIRs would miss each other. */
export function fallbackDirectory(): string {
  return `/tmp/blemeesd-${ownUid()}`;
}

/** Throws when the system would cut the path. */
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
 * For a socket in the fallback directory: throws unless that directory is ours alone. A directory that is not
 * there is `socket_directory_missing`, so that nobody connects to what appears there a moment later.
 * Other places are the user's own choice and are not checked.
 */
export function checkSocketDirectory(path: string): void {
  const directory = dirname(path);
  if (directory === fallbackDirectory()) checkPrivateDirectory(directory);
}

/** Throws unless the directory is a real one, ours, and closed to everybody else. */
export function checkPrivateDirectory(directory: string): void {
  const fault = faultOf(readStats(directory));
  if (fault === undefined) return;
  throw new CodedError(
    "socket_directory_unsafe",
    `${directory} ${fault}, so another user could pose as the daemon; remove it, or set BLEMEESD_SOCKET`,
  );
}

/** For the daemon: makes the socket's directory where it is missing, then checks it. */
export function prepareSocketDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  checkSocketDirectory(path);
}

function readStats(directory: string): Stats {
  try {
    return lstatSync(directory);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    throw new CodedError("socket_directory_missing", `${directory} does not exist`, { cause });
  }
}

function faultOf(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!stats.isDirectory()) return "is not a directory";
  if (stats.uid !== ownUid()) return `belongs to uid ${stats.uid}, not to you`;
  const mode = stats.mode & 0o777;
  return mode === 0o700 ? undefined : `has mode ${mode.toString(8).padStart(4, "0")} instead of 0700`;
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}
