// Builds the profile for macOS's sandbox-exec, with the same rules as bwrap.ts. The last matching rule wins.
import { isWithin, type PathKind, type ProtectedPaths } from "./protected-paths.ts";

export interface SeatbeltProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  protectedPaths: ProtectedPaths;
  /** Temporary directories, as real paths. */
  temporary: readonly string[];
  /** Outside the workspace. */
  writable?: readonly string[];
}

const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

export function buildSeatbeltProfile(profile: SeatbeltProfile): string {
  const { root, protectedPaths, hidden } = profile;
  const above = hidden.filter(({ path }) => isWithin(path, root));
  const others = hidden.filter(({ path }) => !isWithin(path, root));
  const writable = [...profile.temporary, ...(profile.isWritable ? [root, ...(profile.writable ?? [])] : [])];
  return [
    "(version 1)",
    "(allow default)",
    // A hidden directory around the workspace hides everything except the workspace.
    ...rule("deny file-read*", above.map(place)),
    ...rule("allow file-read*", above.length === 0 ? [] : [directory(root)]),
    "(deny file-write*)",
    ...rule("allow file-write*", [...writable.map(directory), ...DEVICES.map(file), directory("/dev/fd")]),
    ...rule("deny file-write*", protectedPaths.readOnly.map(directory)),
    ...rule("deny file-read* file-write*", [
      ...others.map(place),
      ...protectedPaths.maskedDirectories.map(directory),
      ...protectedPaths.maskedFiles.map(file),
    ]),
    "(deny signal)",
    "(allow signal (target same-sandbox))",
    // Both can make a program outside the sandbox act.
    "(deny appleevent-send)",
    "(deny lsopen)",
    // Unix sockets of the host lead out of the sandbox even without a network.
    profile.isNetworkDenied ? "(deny network*)" : "(deny network-outbound (remote unix-socket))",
    "",
  ].join("\n");
}

function rule(what: string, filters: readonly string[]): string[] {
  return filters.length === 0 ? [] : [`(${what} ${filters.join(" ")})`];
}

function place({ path, kind }: { path: string; kind: PathKind }): string {
  return kind === "directory" ? directory(path) : file(path);
}

function directory(path: string): string {
  return `(subpath ${quote(path)})`;
}

function file(path: string): string {
  return `(literal ${quote(path)})`;
}

/** The profile language escapes quotes and backslashes like JSON. */
function quote(path: string): string {
  return JSON.stringify(path);
}
