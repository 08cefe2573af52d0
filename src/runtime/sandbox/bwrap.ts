// The arguments of bubblewrap. Everything may be read and nothing written but the workspace; no capabilities, no
// processes, no sockets of the host. Later arguments lie over earlier ones, so their order is part of the rules.
import { isWithin, type PathKind, type ProtectedPlaces } from "./places.ts";
import type { CacheMount } from "./writable.ts";

export interface BwrapProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hasUserNamespace: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  places: ProtectedPlaces;
  caches?: readonly CacheMount[];
  /** Outside of the workspace. */
  writable?: readonly string[];
  /** Below /tmp, and yet to be seen (read-only). */
  visible?: readonly string[];
  /** Parts of /proc that exist here and that uid 0 could write. */
  kernelFiles: readonly string[];
  cwd: string;
  /** Variables that the command does not get. */
  unset: readonly string[];
}

/** The descriptors that the arguments speak of. */
const SECCOMP_FD = 3;
const STATUS_FD = 4;

/** Without capabilities uid 0 still owns them. */
export const KERNEL_FILES = [
  "/proc/sys",
  "/proc/sysrq-trigger",
  "/proc/irq",
  "/proc/bus",
  "/proc/fs",
  "/proc/scsi",
  "/proc/acpi",
  "/proc/mtrr",
] as const;

export function bwrapArguments(profile: BwrapProfile): string[] {
  const { root, hidden, places } = profile;
  const above = hidden.filter(({ path }) => isWithin(path, root));
  const others = hidden.filter(({ path }) => !isWithin(path, root));
  return [
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    ...profile.kernelFiles.flatMap((path) => readOnly(path)),
    ...["--tmpfs", "/tmp"],
    ...(profile.visible ?? []).flatMap((path) => readOnly(path)),
    ...(profile.isWritable ? writableElsewhere(profile) : []),
    // A workspace below a hidden directory is put back into it.
    ...above.flatMap(({ path }) => ["--tmpfs", path]),
    ...(profile.isWritable ? ["--bind", root, root] : readOnly(root)),
    ...(profile.isWritable ? writableWorkspace(places) : []),
    ...places.maskedFiles.flatMap(emptyFile),
    ...places.maskedDirectories.flatMap(emptyDirectory),
    ...others.flatMap(({ path, kind }) => (kind === "file" ? emptyFile(path) : emptyDirectory(path))),
    // Last: until now places were made in them.
    ...above.flatMap(({ path }) => ["--remount-ro", path]),
    ...["--cap-drop", "ALL"],
    ...(profile.hasUserNamespace ? ["--unshare-user"] : []),
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(profile.isNetworkDenied ? ["--unshare-net"] : []),
    ...["--die-with-parent", "--new-session"],
    ...profile.unset.flatMap((name) => ["--unsetenv", name]),
    ...["--seccomp", String(SECCOMP_FD)],
    ...["--json-status-fd", String(STATUS_FD)],
    ...["--chdir", profile.cwd],
    "--",
  ];
}

function writableElsewhere({ caches = [], writable = [] }: BwrapProfile): string[] {
  return [
    ...caches.flatMap(({ source, target, readable }) => [
      ...["--bind", source, target],
      ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ]),
    ...writable.flatMap((path) => ["--bind", path, path]),
  ];
}

function writableWorkspace(places: ProtectedPlaces): string[] {
  return [
    ...places.writable.flatMap((path) => ["--bind", path, path]),
    ...places.readOnly.flatMap((path) => readOnly(path)),
  ];
}

function readOnly(path: string): string[] {
  return ["--ro-bind", path, path];
}

/** A device on a mount without devices: opening it is "Permission denied" for everybody, which says what happened. */
function emptyFile(path: string): string[] {
  return ["--ro-bind", "/dev/null", path];
}

function emptyDirectory(path: string): string[] {
  return ["--tmpfs", path, "--remount-ro", path];
}
