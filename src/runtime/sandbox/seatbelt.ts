// Builds the profile for macOS's sandbox-exec, with the same rules as bwrap.ts. The last matching rule wins.
import type { HomeView } from "./home.ts";
import { isWithin, type PathKind, type ProtectedPaths } from "./protected-paths.ts";

export interface SeatbeltProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  protectedPaths: ProtectedPaths;
  /** Temporary directories, as real paths. */
  temporary: readonly string[];
  homes?: readonly HomeView[];
  /** Outside the workspace. */
  writable?: readonly string[];
  readable?: readonly string[];
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
    ...hideHomes(profile),
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
      ...(profile.homes ?? []).flatMap((home) => home.masked.map(file)),
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

/** Contents cannot be read except where allowed; that a file exists can be seen, because paths lead through there. */
function hideHomes({ homes = [], root, writable = [], readable = [] }: SeatbeltProfile): string[] {
  const places = homes.map(({ path }) => directory(path));
  const visible = [
    root,
    ...writable,
    ...readable,
    ...homes.flatMap((home) => [...home.readable, ...home.shared]),
  ];
  return [
    ...rule("deny file-read*", places),
    ...rule("allow file-read-metadata", places),
    ...rule("allow file-read*", homes.length === 0 ? [] : visible.map(directory)),
  ];
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
