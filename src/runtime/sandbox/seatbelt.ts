// The profile for macOS' sandbox-exec: the same rules as bwrap.ts, in its language. The last rule that fits decides.
import { isWithin, type PathKind, type ProtectedPlaces } from "./places.ts";

export interface SeatbeltProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  places: ProtectedPlaces;
  /** Directories for temporary files, real paths. */
  temporary: readonly string[];
  /** Outside of the workspace. */
  writable?: readonly string[];
}

const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

export function seatbeltProfile(profile: SeatbeltProfile): string {
  const { root, places, hidden } = profile;
  const above = hidden.filter(({ path }) => isWithin(path, root));
  const others = hidden.filter(({ path }) => !isWithin(path, root));
  const writable = [...profile.temporary, ...(profile.isWritable ? [root, ...(profile.writable ?? [])] : [])];
  return [
    "(version 1)",
    "(allow default)",
    // A hidden directory around the workspace hides everything but the workspace.
    ...rule("deny file-read*", above.map(place)),
    ...rule("allow file-read*", above.length === 0 ? [] : [directory(root)]),
    "(deny file-write*)",
    ...rule("allow file-write*", [...writable.map(directory), ...DEVICES.map(file), directory("/dev/fd")]),
    ...rule("deny file-write*", places.readOnly.map(directory)),
    ...rule("deny file-read* file-write*", [
      ...others.map(place),
      ...places.maskedDirectories.map(directory),
      ...places.maskedFiles.map(file),
    ]),
    "(deny signal)",
    "(allow signal (target same-sandbox))",
    // Both let another program, outside, do the work.
    "(deny appleevent-send)",
    "(deny lsopen)",
    // A socket of the host is a way to act outside, network or not.
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
  return `(subpath ${quoted(path)})`;
}

function file(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** JSON's escapes of quotes and backslashes are also those of the profile language. */
function quoted(path: string): string {
  return JSON.stringify(path);
}
