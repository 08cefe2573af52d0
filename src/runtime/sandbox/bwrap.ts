// Builds bubblewrap's arguments. The system is readable, the home directory nearly empty, and only the workspace writable;
// no capabilities, and no processes or sockets of the host. Later mounts cover earlier ones, so their order matters.
import type { HomeView } from "./home.ts";
import { isWithin, type PathKind, type ProtectedPaths } from "./protected-paths.ts";

export interface BwrapProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hasUserNamespace: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  protectedPaths: ProtectedPaths;
  /** Outer ones first. */
  homes?: readonly HomeView[];
  /** Outside the workspace. */
  writable?: readonly string[];
  readable?: readonly string[];
  /** Visible (read-only) although below /tmp. */
  visible?: readonly string[];
  /** Existing parts of /proc that uid 0 could write. */
  kernelFiles: readonly string[];
  cwd: string;
  /** Of temporary directories; undefined if this version of bubblewrap cannot limit them. */
  temporaryBytes?: number | undefined;
  /** Variables removed from the command's environment. */
  unset: readonly string[];
}

/** File descriptors named in the arguments. */
const SECCOMP_FD = 3;
const STATUS_FD = 4;

/** Owned by uid 0 even without capabilities. */
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

export function buildBwrapArguments(profile: BwrapProfile): string[] {
  const { root, hidden, protectedPaths, homes = [] } = profile;
  const above = hidden.filter(({ path }) => isWithin(path, root));
  const others = hidden.filter(({ path }) => !isWithin(path, root));
  return [
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...limitSize(profile.temporaryBytes),
    ...["--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--proc", "/proc"],
    ...profile.kernelFiles.flatMap(bindReadOnly),
    ...limitSize(profile.temporaryBytes),
    ...["--tmpfs", "/tmp"],
    ...(profile.visible ?? []).flatMap(bindReadOnly),
    ...homes.flatMap(fillHome),
    ...(profile.readable ?? []).flatMap(bindReadOnly),
    ...(profile.isWritable ? (profile.writable ?? []).flatMap((path) => ["--bind", path, path]) : []),
    // A workspace below a hidden directory is mounted again inside it.
    ...above.flatMap(({ path }) => ["--tmpfs", path]),
    ...(profile.isWritable ? ["--bind", root, root] : bindReadOnly(root)),
    ...(profile.isWritable ? bindWorkspaceParts(protectedPaths) : []),
    ...protectedPaths.maskedFiles.flatMap(maskFile),
    ...protectedPaths.maskedDirectories.flatMap(maskDirectory),
    ...others.flatMap(({ path, kind }) => (kind === "file" ? maskFile(path) : maskDirectory(path))),
    // Last, because mount points were created in them until now.
    ...[...above, ...homes].flatMap(({ path }) => ["--remount-ro", path]),
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

/** Applies to the next argument. The others become read-only, so nothing can fill them. */
function limitSize(bytes: number | undefined): string[] {
  return bytes === undefined ? [] : ["--size", String(bytes)];
}

/** What was removed since the plan was made is left out. */
function fillHome({ path, readable, caches, shared, masked }: HomeView): string[] {
  return [
    ...["--tmpfs", path],
    ...readable.flatMap((one) => ["--ro-bind-try", one, one]),
    ...caches.flatMap(({ source, target }) => ["--bind-try", source, target]),
    ...shared.flatMap((one) => ["--ro-bind-try", one, one]),
    ...masked.flatMap(maskFile),
  ];
}

function bindWorkspaceParts(protectedPaths: ProtectedPaths): string[] {
  return [
    ...protectedPaths.writable.flatMap((path) => ["--bind", path, path]),
    ...protectedPaths.readOnly.flatMap(bindReadOnly),
  ];
}

function bindReadOnly(path: string): string[] {
  return ["--ro-bind", path, path];
}

/** A device on a mount without devices: opening it fails with "Permission denied", which is clear. */
function maskFile(path: string): string[] {
  return ["--ro-bind", "/dev/null", path];
}

function maskDirectory(path: string): string[] {
  return ["--tmpfs", path, "--remount-ro", path];
}
