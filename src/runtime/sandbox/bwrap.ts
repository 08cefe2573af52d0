// Builds bubblewrap's arguments. Everything is readable and only the workspace is writable; no capabilities, and no
// processes or sockets of the host. Later mounts cover earlier ones, so their order matters.
import { isWithin, type PathKind, type ProtectedPaths } from "./protected-paths.ts";
import type { CacheMount } from "./writable.ts";

export interface BwrapProfile {
  root: string;
  isWritable: boolean;
  isNetworkDenied: boolean;
  hasUserNamespace: boolean;
  hidden: readonly { path: string; kind: PathKind }[];
  protectedPaths: ProtectedPaths;
  caches?: readonly CacheMount[];
  /** Outside the workspace. */
  writable?: readonly string[];
  /** Visible (read-only) although below /tmp. */
  visible?: readonly string[];
  /** Existing parts of /proc that uid 0 could write. */
  kernelFiles: readonly string[];
  cwd: string;
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
  const { root, hidden, protectedPaths } = profile;
  const above = hidden.filter(({ path }) => isWithin(path, root));
  const others = hidden.filter(({ path }) => !isWithin(path, root));
  return [
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    ...profile.kernelFiles.flatMap((path) => bindReadOnly(path)),
    ...["--tmpfs", "/tmp"],
    ...(profile.visible ?? []).flatMap((path) => bindReadOnly(path)),
    ...(profile.isWritable ? bindWritable(profile) : []),
    // A workspace below a hidden directory is mounted again inside it.
    ...above.flatMap(({ path }) => ["--tmpfs", path]),
    ...(profile.isWritable ? ["--bind", root, root] : bindReadOnly(root)),
    ...(profile.isWritable ? bindWorkspaceParts(protectedPaths) : []),
    ...protectedPaths.maskedFiles.flatMap(maskFile),
    ...protectedPaths.maskedDirectories.flatMap(maskDirectory),
    ...others.flatMap(({ path, kind }) => (kind === "file" ? maskFile(path) : maskDirectory(path))),
    // Last, because mount points were created in them until now.
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

function bindWritable({ caches = [], writable = [] }: BwrapProfile): string[] {
  return [
    ...caches.flatMap(({ source, target, readable }) => [
      ...["--bind", source, target],
      ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
    ]),
    ...writable.flatMap((path) => ["--bind", path, path]),
  ];
}

function bindWorkspaceParts(protectedPaths: ProtectedPaths): string[] {
  return [
    ...protectedPaths.writable.flatMap((path) => ["--bind", path, path]),
    ...protectedPaths.readOnly.flatMap((path) => bindReadOnly(path)),
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
